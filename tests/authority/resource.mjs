// The MCP server: it asks the authorization server itself about each token, and believes no proof that it has not checked.
import { createHash } from 'node:crypto';

import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose';

// The scope that each tool needs.
const TOOLS = { read: 'mcp:read', write: 'mcp:write' };

export function resource({ provider, origin, issuer, state, log }) {
  const mcp = `${origin}/mcp`;
  const proofs = new Set();

  async function proven(request, value, token) {
    const { payload } = await jwtVerify(request.headers.dpop, EmbeddedJWK, {
      algorithms: ['ES256'], typ: 'dpop+jwt', maxTokenAge: 300, requiredClaims: ['jti', 'iat'],
    });
    const { jwk } = decodeProtectedHeader(request.headers.dpop);
    const hash = createHash('sha256').update(value).digest('base64url');
    const fits = payload.htm === request.method && payload.htu === mcp && payload.ath === hash
      && !('d' in jwk) && (await calculateJwkThumbprint(jwk)) === token.jkt && !proofs.has(payload.jti);
    proofs.add(payload.jti);
    return fits ? payload.nonce ?? '' : undefined;
  }

  // The token of a request, or the challenge to answer with.
  async function admitted(request) {
    const where = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    const [scheme, value] = (request.headers.authorization ?? '').split(' ');
    if (!value) return { challenge: `Bearer ${where}, scope="mcp:read"` };
    const token = (await provider.AccessToken.find(value)) ?? (await provider.ClientCredentials.find(value));
    const wrong = { challenge: `Bearer ${where}, error="invalid_token", scope="mcp:read"` };
    if (!token?.isValid || token.aud !== mcp || scheme !== (token.jkt ? 'DPoP' : 'Bearer')) return wrong;
    if (!token.jkt) return { token };
    const nonce = await proven(request, value, token).catch((error) => { log.push(`bad proof: ${error.message}`); });
    if (nonce === undefined) return wrong;
    if (state.nonce && nonce !== state.nonce) return { challenge: 'DPoP error="use_dpop_nonce"' };
    return { token };
  }

  function result({ method, params }) {
    if (method === 'initialize') {
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } };
    }
    if (method === 'tools/list') {
      return { tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: { type: 'object' } })) };
    }
    return { content: [{ type: 'text', text: `you may ${params.name}` }] };
  }

  async function answer(request, response) {
    const json = (status, body, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    const text = Buffer.concat(await request.toArray()).toString();
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      return json(200, { resource: mcp, authorization_servers: [issuer] });
    }
    if (request.url === '/client.json' && state.document) return json(200, state.document);
    if (request.url !== '/mcp') return json(404, {});
    const { token, challenge } = await admitted(request);
    if (challenge) {
      const headers = { 'www-authenticate': challenge };
      if (state.nonce) headers['dpop-nonce'] = state.nonce;
      return json(401, {}, headers);
    }
    if (request.method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(text);
    if (message.id === undefined) return response.writeHead(202).end();
    const needed = message.method === 'tools/call' ? TOOLS[message.params.name] : 'mcp:read';
    if (!token.scope.split(' ').includes(needed)) {
      const challenge = `Bearer error="insufficient_scope", scope="${needed}"`;
      return json(403, {}, { 'www-authenticate': challenge });
    }
    return json(200, { jsonrpc: '2.0', id: message.id, result: result(message) });
  }

  return (request, response) => {
    answer(request, response).catch((error) => {
      log.push(`failed: ${error.message}`);
      response.destroy();
    });
  };
}
