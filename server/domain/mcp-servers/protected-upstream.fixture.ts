import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';

type Answer = { status: number; body: unknown; headers?: Record<string, string> };

/** An MCP server of the legacy era that asks for a sign-in, and its authorization server, on loopback. It does what a test wants, also wrongly. */
export class ProtectedUpstream {
  origin = '';
  /** Overrides of the metadata documents; undefined leaves a member out. */
  resourceMetadata: Record<string, unknown> = {};
  serverMetadata: Record<string, unknown> = {};
  tools: object[] = [
    { name: 'create_issue', description: 'Creates an issue', inputSchema: { type: 'object', properties: { title: { type: 'string' } } } },
  ];
  /** Whether calls are let in without a sign-in. */
  open = false;
  /** Of the next token answers. */
  expiresIn = 3_600;
  refreshError: string | null = null;
  refreshDelayMs = 0;
  readonly registrations: Record<string, unknown>[] = [];
  readonly tokenRequests: URLSearchParams[] = [];
  /** Authorization headers of calls that were let in. */
  readonly callers: string[] = [];
  readonly #codes = new Map<string, { challenge: string; redirect_uri: string; client_id: string }>();
  readonly #live = new Set<string>();
  #refresh = '';
  #minted = 0;

  static async start(): Promise<ProtectedUpstream> {
    const upstream = new ProtectedUpstream();
    const port = await listen(
      createServer(
        (req, res) =>
          void upstream.#answer(req).then(({ status, body, headers }) => {
            res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body === null ? '' : JSON.stringify(body));
          }),
      ),
    );
    upstream.origin = `http://127.0.0.1:${port}`;
    return upstream;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** What the browser does at the authorization endpoint. @returns the parameters it comes back with */
  authorize(location: string, over: Record<string, string | null> = {}): Record<string, string> {
    const url = new URL(location);
    const asked = Object.fromEntries(url.searchParams);
    assert.equal(url.origin + url.pathname, `${this.origin}/authorize`);
    assert.deepEqual([asked.response_type, asked.code_challenge_method], ['code', 'S256']);
    const code = `code-${this.#codes.size + 1}`;
    this.#codes.set(code, {
      challenge: String(asked.code_challenge),
      redirect_uri: String(asked.redirect_uri),
      client_id: String(asked.client_id),
    });
    const answer = { code, state: String(asked.state), iss: this.origin, ...over };
    return Object.fromEntries(Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== null));
  }

  /** Access tokens stop working, as when a person signs out everywhere. */
  forgetTokens(): void {
    this.#live.clear();
  }

  async #answer(req: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    switch (new URL(req.url ?? '/', this.origin).pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return {
          status: 200,
          body: { resource: this.url, authorization_servers: [this.origin], scopes_supported: ['issues'], ...this.resourceMetadata },
        };
      case '/.well-known/oauth-authorization-server':
        return {
          status: 200,
          body: {
            issuer: this.origin,
            authorization_endpoint: `${this.origin}/authorize`,
            token_endpoint: `${this.origin}/token`,
            registration_endpoint: `${this.origin}/register`,
            code_challenge_methods_supported: ['S256'],
            authorization_response_iss_parameter_supported: true,
            ...this.serverMetadata,
          },
        };
      case '/register':
        this.registrations.push(JSON.parse(text));
        return { status: 201, body: { client_id: `registered-${this.registrations.length}`, client_secret: 'a registered secret' } };
      case '/token':
        return this.#token(new URLSearchParams(text));
      case '/mcp':
        return this.#call(req, text);
      default:
        return { status: 404, body: { error: 'not_found' } };
    }
  }

  async #token(form: URLSearchParams): Promise<Answer> {
    this.tokenRequests.push(form);
    if (form.get('grant_type') === 'refresh_token') {
      await new Promise((resolve) => setTimeout(resolve, this.refreshDelayMs));
      if (this.refreshError !== null) return { status: 400, body: { error: this.refreshError } };
      if (form.get('refresh_token') !== this.#refresh) return { status: 400, body: { error: 'invalid_grant' } };
      return this.#mint();
    }
    const known = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!known || known.challenge !== challenge || known.redirect_uri !== form.get('redirect_uri'))
      return { status: 400, body: { error: 'invalid_grant' } };
    return this.#mint();
  }

  #mint(): Answer {
    const access_token = `access-${++this.#minted}`;
    this.#live.add(access_token);
    this.#refresh = `refresh-${this.#minted}`;
    return {
      status: 200,
      body: { access_token, token_type: 'Bearer', expires_in: this.expiresIn, refresh_token: this.#refresh, scope: 'issues' },
    };
  }

  #call({ headers }: IncomingMessage, text: string): Answer {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!this.open && !this.#live.has(token)) {
      const metadata = `${this.origin}/.well-known/oauth-protected-resource/mcp`;
      return { status: 401, body: { error: 'invalid_token' }, headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` } };
    }
    this.callers.push(token);
    const { id, method } = JSON.parse(text) as { id?: unknown; method: string };
    const result = (value: object): Answer => ({ status: 200, body: { jsonrpc: '2.0', id, result: value } });
    if (method === 'initialize')
      return result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'issues', version: '1' } });
    if (method === 'tools/list') return result({ tools: this.tools });
    if (method === 'tools/call') return result({ content: [{ type: 'text', text: `called as ${token}` }] });
    return id === undefined
      ? { status: 202, body: null }
      : { status: 400, body: { jsonrpc: '2.0', id, error: { code: -32000, message: 'Unknown method' } } };
  }
}
