// The authorization server: what it allows, and to whom. Its pages for people are those it brings for development.
import Provider, { errors } from 'oidc-provider';

export const SCOPES = 'mcp:read mcp:write';
// Every sign that the encoding of forms changes.
export const SECRET = 'a:b+c/d%e&f=g';

export function authority({ issuer, resource, machine, state, log }) {
  const jwk = ([alg, pair]) => ({ ...pair.publicKey.export({ format: 'jwk' }), alg, kid: alg, use: 'sig' });
  const alone = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
  const provider = new Provider(issuer, {
    clients: [
      {
        ...alone,
        client_id: 'machine',
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: Object.entries(machine).map(jwk) },
      },
      { ...alone, client_id: 'machine:secret', client_secret: SECRET },
    ],
    cookies: { keys: ['for tests alone'] },
    features: {
      clientCredentials: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 1), requireNonce: () => true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_, wanted) {
          if (wanted !== resource) throw new errors.InvalidTarget();
          return { scope: SCOPES, audience: resource, accessTokenTTL: state.lifetime, accessTokenFormat: 'opaque' };
        },
      },
      revocation: { enabled: true },
    },
    // Documents of clients stand on this machine, which the provider's own fetch keeps away from.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    // For people as for machines.
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access'],
    ttl: { ClientCredentials: () => state.lifetime },
  });

  const asked = (ctx) => ctx.oidc.params ?? {};
  provider.on('registration_create.success', () => log.push('registered'));
  provider.on('authorization.success', (ctx) => log.push(`authorized ${asked(ctx).scope ?? ''}`));
  provider.on('grant.success', (ctx) => log.push(`gave ${asked(ctx).grant_type}`));
  provider.on('grant.error', (ctx, error) => log.push(`refused ${asked(ctx).grant_type}: ${error.error}`));
  provider.on('refresh_token.destroyed', () => log.push('revoked'));
  return provider;
}
