import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';

type Claims = Record<string, unknown>;
type Signing = { private: CryptoKey; jwk: JWK };

/** An OpenID Connect provider on loopback that does what a test wants, also wrongly. */
export class TestProvider {
  issuer = '';
  readonly client_id = 'sallyport';
  readonly client_secret = 'a client secret that nobody knows';
  /** Overrides of the next identity tokens' claims; undefined leaves one out. */
  claims: Claims = {};
  /** What UserInfo answers. */
  profile: Claims = {};
  /** Signs the next tokens in its own way. */
  sign: ((claims: Claims, key: Signing) => Promise<string>) | undefined;
  /** Of the next answers to the browser; null leaves it out. */
  iss: string | null | undefined;
  down = false;
  tokenRequests = 0;
  readonly #codes = new Map<string, { nonce: string; challenge: string; redirect_uri: string }>();
  #keys: Signing[] = [];

  static async start(): Promise<TestProvider> {
    const provider = new TestProvider();
    await provider.rotate();
    const port = await listen(
      createServer(
        (req, res) =>
          void provider.#answer(req).then(({ status, body }) => {
            res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
          }),
      ),
    );
    provider.issuer = `http://127.0.0.1:${port}`;
    return provider;
  }

  /** Signs with a new key from now on; the old one is no longer published. */
  async rotate(): Promise<void> {
    const pair = await generateKeyPair('ES256');
    const jwk = await exportJWK(pair.publicKey);
    this.#keys = [{ private: pair.privateKey, jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' } }];
  }

  /** What the browser does at the authorization endpoint. @returns the path it comes back to */
  authorize(location: string): string {
    const url = new URL(location);
    const asked = Object.fromEntries(url.searchParams);
    assert.equal(url.origin + url.pathname, `${this.issuer}/authorize`);
    assert.deepEqual([asked.response_type, asked.client_id, asked.code_challenge_method], ['code', this.client_id, 'S256']);
    const code = `code-${this.#codes.size + 1}`;
    this.#codes.set(code, {
      nonce: String(asked.nonce),
      challenge: String(asked.code_challenge),
      redirect_uri: String(asked.redirect_uri),
    });
    const iss = this.iss === undefined ? this.issuer : this.iss;
    return `${new URL(String(asked.redirect_uri)).pathname}?${new URLSearchParams({ code, state: String(asked.state), ...(iss === null ? {} : { iss }) })}`;
  }

  async #answer(req: IncomingMessage): Promise<{ status: number; body: unknown }> {
    if (this.down) return { status: 503, body: {} };
    if (req.url === '/.well-known/openid-configuration')
      return {
        status: 200,
        body: {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          userinfo_endpoint: `${this.issuer}/userinfo`,
          jwks_uri: `${this.issuer}/keys`,
          id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
          authorization_response_iss_parameter_supported: true,
        },
      };
    if (req.url === '/keys') return { status: 200, body: { keys: this.#keys.map(({ jwk }) => jwk) } };
    if (req.url === '/userinfo') return { status: 200, body: this.profile };
    assert.equal(req.url, '/token');
    this.tokenRequests++;
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const secret = Buffer.from((req.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    const given = this.#codes.get(form.code ?? '');
    this.#codes.delete(form.code ?? '');
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    if (decodeURIComponent(secret.replaceAll('+', ' ')) !== `${this.client_id}:${this.client_secret}`)
      return { status: 401, body: { error: 'invalid_client' } };
    if (!given || given.challenge !== challenge || given.redirect_uri !== form.redirect_uri)
      return { status: 400, body: { error: 'invalid_grant' } };
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.issuer, aud: this.client_id, sub: 'person-1', nonce: given.nonce, iat: now, exp: now + 300, ...this.claims };
    const id_token = await (this.sign ?? signed)(claims, this.#keys[0] as Signing);
    return { status: 200, body: { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token } };
  }
}

export const signed = (claims: Claims, { private: key, jwk }: Signing, header: Record<string, unknown> = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: jwk.kid as string, ...header }).sign(key);
export const unsigned = async (claims: Claims) => new UnsecuredJWT(claims).encode();
/** With the public key's text as the secret of an HMAC: the classic confusion of algorithms. */
export const withHmac = (claims: Claims, { jwk }: Signing) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: jwk.kid as string }).sign(new TextEncoder().encode(JSON.stringify(jwk)));
export const byAnotherKey = async (claims: Claims, { jwk }: Signing) => {
  const { privateKey } = await generateKeyPair('ES256');
  return signed(claims, { private: privateKey, jwk });
};
