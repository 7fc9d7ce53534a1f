import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TokenServer = {
  url: string;
  /** The forms of the requests, in their order. */
  seen: Record<string, string>[];
  headers: IncomingMessage['headers'][];
  /** Answers in place of the server; undefined leaves it to the server. */
  answer: (form: Record<string, string>, res: ServerResponse) => unknown;
  /** Seconds of life of the tokens. */
  expiresIn: number;
  /** Milliseconds before each answer. */
  delayMs: number;
  /** Each answer waits for it. */
  hold: () => Promise<unknown>;
  server: Server;
};

/** A token endpoint on loopback that numbers its tokens and accepts each refresh token once. It ends with the process. */
export async function startTokenServer(): Promise<TokenServer> {
  let made = 0;
  const live = new Set<string>();
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      running.seen.push(form);
      running.headers.push(req.headers);
      void running.hold().then(() => setTimeout(() => respond(form, res), running.delayMs));
    });
  });
  const respond = (form: Record<string, string>, res: ServerResponse) => {
    if (running.answer(form, res) !== undefined) return;
    res.setHeader('content-type', 'application/json');
    if (form.grant_type === 'refresh_token' && !live.delete(form.refresh_token ?? '')) {
      res.statusCode = 400;
      res.end(JSON.stringify({ error: 'invalid_grant', error_description: 'a text that nobody may see' }));
      return;
    }
    const n = ++made;
    live.add(`refresh-${n}`);
    const refresh = form.grant_type === 'client_credentials' ? {} : { refresh_token: `refresh-${n}` };
    res.end(JSON.stringify({ access_token: `access-${n}`, token_type: 'Bearer', expires_in: running.expiresIn, ...refresh }));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  const running: TokenServer = {
    url: `http://127.0.0.1:${port}/token`,
    seen: [],
    headers: [],
    answer: () => undefined,
    expiresIn: 3_600,
    delayMs: 0,
    hold: async () => {},
    server,
  };
  return running;
}
