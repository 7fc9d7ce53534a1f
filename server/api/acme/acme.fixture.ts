import 'reflect-metadata';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as x509 from '@peculiar/x509';
import { thumbprintOf } from '#server/crypto/acme/account-key.ts';
import { binding, type ClientKey, clientKey, signed } from '#server/crypto/acme/jws.fixture.ts';
import { type NameServer, nameServer } from '#server/platform/dns-names.fixture.ts';
import type { Edge } from '../edge.ts';

// What the tests of the ACME server share: the places where clients show proofs, and a client that can be told to do wrong.

export type Proofs = {
  dns: NameServer;
  web: Server;
  /** What the web server of every name answers, by path. */
  pages: Map<string, string>;
  /** The settings under which names below acme.test are found. */
  settings: Record<string, string>;
  close(): void;
};

/** A web server for `a.acme.test`, `b.acme.test` and `web.acme.test`, and the DNS of all names. Call it before the database, which reads the environment. */
export async function proofs(hosts: readonly string[] = ['a.acme.test', 'b.acme.test', 'web.acme.test']): Promise<Proofs> {
  const dns = await nameServer();
  const pages = new Map<string, string>();
  const web = createServer((req, res) => {
    const page = pages.get(req.url ?? '');
    const redirect = page?.startsWith('-> ') ? page.slice(3) : undefined;
    if (redirect !== undefined) res.writeHead(302, { location: redirect }).end();
    else res.writeHead(page === undefined ? 404 : 200).end(page);
  });
  web.unref();
  await once(web.listen(0, '127.0.0.1'), 'listening');
  const { port } = web.address() as AddressInfo;
  return {
    dns,
    web,
    pages,
    settings: {
      SVC_TEST_MODE: '1',
      PKI_DNS_RESOLVERS: dns.address,
      SVC_EGRESS_TEST_HOSTS: hosts.map((host) => `${host}:80=127.0.0.1:${port}`).join(','),
    },
    close() {
      dns.close();
      web.closeAllConnections();
      web.close();
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Answer = { status: number; headers: Headers; body: any; text: string };
/** Overrides of what a request usually has. A null `nonce` leaves it out. */
type Wrong = { nonce?: string | null; url?: string; header?: Record<string, unknown>; key?: ClientKey; type?: string; raw?: string };
type Handler = (req: Request, edge: Edge) => Promise<Response>;

/** A client of one directory with a key of its own. */
export class AcmeClient {
  readonly directory: string;
  key: ClientKey;
  /** The URL of the account once it is registered. */
  kid: string | undefined;
  readonly #handle: Handler;
  readonly #ip: string;

  constructor(handle: Handler, directory: string, key: ClientKey) {
    this.#handle = handle;
    this.directory = directory;
    this.key = key;
    this.#ip = `198.51.100.${Math.floor(Math.random() * 250)}`;
  }

  static async of(handle: Handler, directory: string): Promise<AcmeClient> {
    return new AcmeClient(handle, directory, await clientKey());
  }

  get base(): string {
    return this.directory.slice(0, -'/directory'.length);
  }

  async send(url: string, init: RequestInit = {}): Promise<Answer> {
    const edge: Edge = { space: 'live', ip: this.#ip, request_id: randomUUID(), user_agent: 'test' };
    const response = await this.#handle(new Request(url, init), edge);
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : undefined, text };
  }

  async nonce(): Promise<string> {
    const { headers } = await this.send(`${this.base}/new-nonce`, { method: 'HEAD' });
    return headers.get('replay-nonce') as string;
  }

  /** A signed POST; `payload` undefined is POST-as-GET. */
  async post(url: string, payload?: unknown, wrong: Wrong = {}): Promise<Answer> {
    const nonce = wrong.nonce === undefined ? await this.nonce() : wrong.nonce;
    const key = wrong.key ?? this.key;
    const signer = this.kid === undefined ? { jwk: key.jwk } : { kid: this.kid };
    const jws = await signed(key, payload, { ...signer, ...(nonce === null ? {} : { nonce }), url: wrong.url ?? url, ...wrong.header });
    return this.send(url, {
      method: 'POST',
      headers: { 'content-type': wrong.type ?? 'application/jose+json' },
      body: wrong.raw ?? JSON.stringify(jws),
    });
  }

  /** Registers with a key that was handed out. */
  async register({ kid, hmac_key }: { kid: string; hmac_key: string }, more: Record<string, unknown> = {}): Promise<Answer> {
    const url = `${this.base}/new-account`;
    const externalAccountBinding = await binding(Buffer.from(hmac_key, 'base64url'), kid, url, this.key.jwk);
    const answer = await this.post(url, { externalAccountBinding, ...more });
    if (answer.status < 300) this.kid = answer.headers.get('location') as string;
    return answer;
  }

  async order(...names: string[]): Promise<Answer & { url: string }> {
    const answer = await this.post(`${this.base}/new-order`, { identifiers: names.map((value) => ({ type: 'dns', value })) });
    return { ...answer, url: answer.headers.get('location') as string };
  }

  /** The challenge of a type of an authorization, with what proves it. */
  async challenge(authorization: string, type: string) {
    const { body } = await this.post(authorization);
    const challenge = body.challenges.find((one: { type: string }) => one.type === type);
    assert.ok(challenge, `${authorization} has no ${type}`);
    return { ...challenge, name: body.identifier.value as string, authorization: `${challenge.token}.${await thumbprintOf(this.key.jwk)}` };
  }
}

/** A certificate request as DER in base64url; `cn` and `names` are as they are given. */
export async function csr(
  names: readonly string[],
  { cn, keys, ips = [] }: { cn?: string; keys?: CryptoKeyPair; ips?: string[] } = {},
): Promise<string> {
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const pair = keys ?? ((await crypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify'])) as CryptoKeyPair);
  const sans = [...names.map((value) => ({ type: 'dns' as const, value })), ...ips.map((value) => ({ type: 'ip' as const, value }))];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    ...(cn === undefined ? {} : { name: `CN=${cn}` }),
    keys: pair,
    signingAlgorithm,
    extensions: sans.length > 0 ? [new x509.SubjectAlternativeNameExtension(sans)] : [],
  });
  return Buffer.from(request.rawData).toString('base64url');
}
