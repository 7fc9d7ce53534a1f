import { createServer, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { listen } from '../http-out/upstream.fixture.ts';

type Claims = Record<string, unknown>;
type Signing = { private: CryptoKey; jwk: JWK };

/** Publishes its keys as a platform for workloads does, also wrongly. Tokens are shaped like those of GitHub Actions. */
export class TestIssuer {
  issuer = '';
  /** Requests for the discovery document and for the keys. */
  asked = { configuration: 0, keys: 0 };
  down = false;
  /** What the discovery document says instead; undefined leaves a member out. */
  metadata: Claims = {};
  /** Answers a request in its own way; false leaves it to the issuer. */
  answer: (path: string, res: ServerResponse) => boolean = () => false;
  /** Further members of the key set. */
  extra: JWK[] = [];
  #keys: Signing[] = [];
  #made = 0;

  static async start(host = '127.0.0.1'): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await issuer.rotate();
    const port = await listen(createServer((req, res) => issuer.#serve(req.url ?? '', res)));
    issuer.issuer = `http://${host}:${port}`;
    return issuer;
  }

  /** Signs with a new key from now on; the old ones are no longer published. */
  async rotate(alg = 'ES256'): Promise<void> {
    const pair = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${++this.#made}`;
    this.#keys = [{ private: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } }];
  }

  get key(): Signing {
    return this.#keys[0] as Signing;
  }

  /** What a job of acme/app on main carries, at this moment. */
  claims(more: Claims = {}, now = new Date()): Claims {
    const seconds = Math.floor(now.getTime() / 1000);
    return {
      ...{ iss: this.issuer, sub: 'repo:acme/app:ref:refs/heads/main', aud: 'service:api', jti: crypto.randomUUID() },
      ...{ iat: seconds, nbf: seconds, exp: seconds + 300 },
      ...{ repository: 'acme/app', repository_owner: 'acme', repository_owner_id: '1234567', ref: 'refs/heads/main', event_name: 'push' },
      ...{
        job_workflow_ref: 'acme/app/.github/workflows/deploy.yml@refs/heads/main',
        actor: 'octocat',
        run_attempt: 1,
        ref_protected: true,
      },
      ...more,
    };
  }

  token(more: Claims = {}, header: Claims = {}, now?: Date): Promise<string> {
    return signed(this.claims(more, now), this.key, header);
  }

  #serve(path: string, res: ServerResponse): void {
    if (path === '/.well-known/openid-configuration') this.asked.configuration++;
    if (path === '/keys') this.asked.keys++;
    if (this.answer(path, res)) return;
    const [status, body] = this.#documents(path);
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #documents(path: string): [status: number, body: unknown] {
    if (this.down) return [503, {}];
    if (path === '/.well-known/openid-configuration')
      return [200, { issuer: this.issuer, jwks_uri: `${this.issuer}/keys`, ...this.metadata }];
    if (path === '/keys') return [200, { keys: [...this.#keys.map(({ jwk }) => jwk), ...this.extra] }];
    return [404, {}];
  }
}

export const signed = (claims: Claims, { private: key, jwk }: Signing, header: Claims = {}): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: jwk.alg as string, kid: jwk.kid as string, typ: 'JWT', ...header }).sign(key);

export const unsigned = (claims: Claims): string => new UnsecuredJWT(claims).encode();

/** With the public key's text as the secret of an HMAC: the classic confusion of algorithms. */
export const withHmac = (claims: Claims, { jwk }: Signing): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: jwk.kid as string }).sign(new TextEncoder().encode(JSON.stringify(jwk)));

/** By a key of the same name that the issuer never published. */
export async function byAnotherKey(claims: Claims, { jwk }: Signing, header: Claims = {}): Promise<string> {
  const pair = await generateKeyPair('ES256', { extractable: true });
  const own = { ...(await exportJWK(pair.publicKey)), kid: jwk.kid as string };
  return signed(claims, { private: pair.privateKey, jwk: { ...own, alg: 'ES256' } }, { jwk: own, ...header });
}
