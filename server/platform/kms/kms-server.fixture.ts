import { constants, generateKeyPairSync, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// What the SDKs of the three clouds say to their services, answered on loopback: the exchanges follow the published REST references. Keys are real for
// Azure (RSA); the others hand out a handle and remember the plaintext and what it was bound to.

/** `floods`: answers as it should, with more behind it than anybody asked for. */
export type Mood = 'ok' | 'disabled' | 'denied' | 'down' | 'redirects' | 'floods';
export type KmsServer = {
  url: string;
  /** What the key answers from now on. */
  mood: Mood;
  /** `aws.AssumeRole` and its like, in order. */
  calls: string[];
  /** Paths of all requests. */
  asked: string[];
  /** What the last call of AssumeRole and of Encrypt sent. */
  seen: { externalId?: string; role?: string; context?: unknown; principal?: string; aad?: string };
  close(): Promise<void>;
};

const FLOOD_BYTES = 8 * 1024 * 1024;

type Held = { plaintext: string; bound: string };
type Answer = { status?: number; type?: string; headers?: Record<string, string>; body: unknown };

export async function startKmsServer(port = 0): Promise<KmsServer> {
  const held = new Map<string, Held>();
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer((request, response) => void serve(request, response));
  const kms: KmsServer = {
    url: '',
    mood: 'ok',
    calls: [],
    asked: [],
    seen: {},
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  const keep = (plaintext: string, bound: string): string => {
    const handle = randomBytes(48).toString('base64');
    held.set(handle, { plaintext, bound });
    return handle;
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    kms.asked.push(new URL(request.url ?? '/', 'http://kms').pathname);
    if (kms.mood === 'down') return void request.socket.destroy();
    if (kms.mood === 'redirects' && !request.url?.startsWith('/computeMetadata/'))
      return void response.writeHead(307, { location: `${kms.url}/elsewhere` }).end();
    const { status = 200, type = 'application/json', headers = {}, body: answer } = route(request, body);
    response.writeHead(status, { 'content-type': type, ...headers });
    response.write(typeof answer === 'string' ? answer : JSON.stringify(answer));
    response.end(kms.mood === 'floods' && !request.url?.startsWith('/computeMetadata/') ? ' '.repeat(FLOOD_BYTES) : '');
  }

  function route(request: IncomingMessage, body: string): Answer {
    const { pathname } = new URL(request.url ?? '/', 'http://kms');
    const target = request.headers['x-amz-target'];
    if (typeof target === 'string') return awsKms(target.split('.').at(-1) ?? '', JSON.parse(body));
    if (body.includes('Action=AssumeRole')) return assumeRole(new URLSearchParams(body));
    if (pathname.startsWith('/computeMetadata/')) return metadata(pathname);
    if (pathname.endsWith(':generateAccessToken')) return impersonate(pathname);
    if (/\/cryptoKeys\/[\w-]+:(?:en|de)crypt$/.test(pathname)) return gcpKms(pathname, JSON.parse(body));
    if (/^\/keys\//.test(pathname)) return vault(request, pathname, body);
    return directory(request, pathname);
  }

  function assumeRole(form: URLSearchParams): Answer {
    kms.calls.push('aws.AssumeRole');
    kms.seen.role = form.get('RoleArn') ?? '';
    kms.seen.externalId = form.get('ExternalId') ?? '';
    const expires = new Date(Date.now() + 900_000).toISOString();
    return {
      type: 'text/xml',
      body: `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIATEST</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${expires}</Expiration></Credentials></AssumeRoleResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></AssumeRoleResponse>`,
    };
  }

  function awsKms(action: string, input: Record<string, unknown>): Answer {
    kms.calls.push(`aws.${action}`);
    kms.seen.context = input.EncryptionContext;
    const bound = JSON.stringify([input.KeyId, input.EncryptionContext]);
    const type = 'application/x-amz-json-1.1';
    if (kms.mood === 'disabled') return { status: 400, type, body: { __type: 'DisabledException', message: 'the key is disabled' } };
    if (kms.mood === 'denied') return { status: 400, type, body: { __type: 'AccessDeniedException', message: 'not authorized' } };
    if (action === 'Encrypt') return { type, body: { CiphertextBlob: keep(String(input.Plaintext), bound), KeyId: input.KeyId } };
    const found = held.get(String(input.CiphertextBlob));
    if (found?.bound !== bound) return { status: 400, type, body: { __type: 'InvalidCiphertextException' } };
    return { type, body: { Plaintext: found.plaintext, KeyId: input.KeyId } };
  }

  function metadata(pathname: string): Answer {
    const headers = { 'metadata-flavor': 'Google' };
    if (pathname.endsWith('/token')) return { headers, body: { access_token: 'operator', expires_in: 3600, token_type: 'Bearer' } };
    if (pathname.endsWith('/universe-domain')) return { headers, type: 'application/text', body: 'googleapis.com' };
    if (pathname.endsWith('/project-id')) return { headers, type: 'application/text', body: 'operator-project' };
    return { headers, type: 'application/text', body: 'ok' };
  }

  function impersonate(pathname: string): Answer {
    kms.calls.push('gcp.generateAccessToken');
    kms.seen.principal = decodeURIComponent(pathname.split('/').at(-1)?.replace(':generateAccessToken', '') ?? '');
    return { body: { accessToken: 'impersonated', expireTime: new Date(Date.now() + 900_000).toISOString() } };
  }

  function gcpKms(pathname: string, input: Record<string, string>): Answer {
    const [name = '', action = ''] = pathname.slice('/v1/'.length).split(':');
    kms.calls.push(`gcp.${action}`);
    const refused = (status: number, state: string) => ({
      status,
      body: { error: { code: status, message: 'refused', status: state } },
    });
    if (kms.mood === 'disabled') return refused(400, 'FAILED_PRECONDITION');
    if (kms.mood === 'denied') return refused(403, 'PERMISSION_DENIED');
    const bound = JSON.stringify([name, Buffer.from(input.additionalAuthenticatedData ?? '', 'base64').toString()]);
    kms.seen.aad = Buffer.from(input.additionalAuthenticatedData ?? '', 'base64').toString();
    if (action === 'encrypt') return { body: { name: `${name}/cryptoKeyVersions/1`, ciphertext: keep(input.plaintext ?? '', bound) } };
    const found = held.get(Buffer.from(input.ciphertext ?? '', 'base64').toString('base64'));
    return found?.bound === bound ? { body: { plaintext: found.plaintext } } : refused(400, 'INVALID_ARGUMENT');
  }

  function vault(request: IncomingMessage, pathname: string, body: string): Answer {
    const asked = String(request.headers['x-asked-host'] ?? '');
    if (!request.headers.authorization)
      return {
        status: 401,
        headers: {
          'www-authenticate':
            'Bearer authorization="https://login.microsoftonline.com/11111111-2222-4333-8444-555555555555", resource="https://vault.azure.net"',
        },
        body: { error: { code: 'Unauthorized' } },
      };
    const [, , name, version = 'v1', action] = pathname.split('/');
    const kid = `https://${asked}/keys/${name}/${version === 'wrapkey' ? 'v1' : version}`;
    const verb = action ?? (version === 'wrapkey' ? version : undefined);
    kms.calls.push(`azure.${verb ?? 'get'}`);
    if (kms.mood === 'denied') return { status: 403, body: { error: { code: 'Forbidden', message: 'not authorized' } } };
    if (kms.mood === 'disabled') return { status: 403, body: { error: { code: 'Forbidden', innererror: { code: 'KeyDisabled' } } } };
    const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    if (verb === undefined)
      return {
        body: { key: { kid, ...publicKey.export({ format: 'jwk' }), key_ops: ['wrapKey', 'unwrapKey'] }, attributes: { enabled: true } },
      };
    const value = Buffer.from((JSON.parse(body) as { value: string }).value, 'base64url');
    const done = (bytes: Buffer): Answer => ({ body: { kid, value: bytes.toString('base64url') } });
    if (verb === 'wrapkey') return done(publicEncrypt({ key: publicKey, ...oaep }, value));
    try {
      return done(privateDecrypt({ key: privateKey, ...oaep }, value));
    } catch {
      return { status: 400, body: { error: { code: 'BadParameter' } } };
    }
  }

  function directory(request: IncomingMessage, pathname: string): Answer {
    const host = String(request.headers['x-asked-host'] ?? '');
    const tenant = pathname.split('/')[1] ?? '';
    if (pathname.endsWith('/openid-configuration'))
      return {
        body: {
          token_endpoint: `https://${host}/${tenant}/oauth2/v2.0/token`,
          authorization_endpoint: `https://${host}/${tenant}/oauth2/v2.0/authorize`,
          issuer: `https://${host}/${tenant}/v2.0`,
          jwks_uri: `https://${host}/${tenant}/discovery/v2.0/keys`,
        },
      };
    if (pathname.includes('/discovery/instance'))
      return {
        body: {
          tenant_discovery_endpoint: `https://${host}/${tenant}/v2.0/.well-known/openid-configuration`,
          metadata: [{ preferred_network: host, preferred_cache: host, aliases: [host] }],
        },
      };
    if (pathname.endsWith('/token')) {
      kms.calls.push('azure.token');
      return { body: { access_token: 'token', expires_in: 3600, ext_expires_in: 3600, token_type: 'Bearer' } };
    }
    return { status: 404, body: { error: 'not found' } };
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  kms.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return kms;
}
