// An authorization server that is not ours, oidc-provider, and an MCP server that it protects, both over TLS.
//
//   node server.mjs CERTIFICATE KEY
//
// Once both listen it writes a line of JSON: where they are, and the private keys of the client `machine`. From then on
// each line on its standard input is a wish ({"wish": …}), answered with a line. It ends with its standard input.
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';

import { authority } from './authority.mjs';
import { resource } from './resource.mjs';

// Its notices, which are not for whoever reads our lines.
console.info = console.error;

const [certificate, key] = process.argv.slice(2).map((path) => readFileSync(path));

// What happened, for the client's side to ask about.
const log = [];
// What the client's side can change.
const state = { document: undefined, lifetime: 3600, nonce: undefined };

async function listen() {
  let handler = (_, response) => response.writeHead(503).end();
  const server = createServer({ cert: certificate, key }, (request, response) => handler(request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `https://localhost:${server.address().port}`, use: (it) => { handler = it; } };
}

const machine = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

const [as, rs] = [await listen(), await listen()];
const mcp = `${rs.origin}/mcp`;
const provider = authority({ issuer: as.origin, resource: mcp, machine, state, log });
as.use(provider.callback());
rs.use(resource({ provider, origin: rs.origin, issuer: as.origin, state, log }));

// Tokens live in memory, under the ids that they are known by.
const wishes = {
  // What happened since the last time.
  log: () => log.splice(0),
  // The document at /client.json.
  document: ({ document }) => { state.document = document; },
  // How long tokens live that are given out from now on.
  lifetime: ({ seconds }) => { state.lifetime = seconds; },
  // The nonce that the MCP server wants in proofs from now on.
  nonce: ({ nonce }) => { state.nonce = nonce; },
  // Ends an access token before its time.
  end: async ({ token }) => (await provider.AccessToken.find(token))?.destroy(),
  // Takes back what a person agreed to, as they could at a page of the server.
  withdraw: async ({ token }) => {
    const found = await provider.RefreshToken.find(token);
    await (await provider.Grant.find(found.grantId)).destroy();
  },
  // Whether a refresh token could still be spent.
  refreshable: async ({ token }) => {
    const found = await provider.RefreshToken.find(token);
    return Boolean(found && found.isValid);
  },
};

const pem = (pair) => pair.privateKey.export({ type: 'pkcs8', format: 'pem' });
const keys = Object.fromEntries(Object.entries(machine).map(([name, pair]) => [name, pem(pair)]));
console.log(JSON.stringify({ issuer: as.origin, mcp, keys }));

for await (const line of createInterface({ input: process.stdin })) {
  const wish = JSON.parse(line);
  console.log(JSON.stringify((await wishes[wish.wish](wish)) ?? null));
}
process.exit(0);
