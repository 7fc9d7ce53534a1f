/** Sends one request by a transport of ours. Any status is an answer. */
export type GoogleSend = (request: {
  url: string;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal | undefined;
}) => Promise<{ status: number; body: Buffer }>;

/**
 * What Google's SDKs take for a client of google-auth-library: every request goes out by `send`, with a token of `access`. The library itself sends its exchanges
 * of tokens by a transport of its own, past the guard, and takes no other (version 10.9).
 */
export function googleAuth(send: GoogleSend, access: () => Promise<string>) {
  return {
    universeDomain: 'googleapis.com',
    getRequestHeaders: async () => new Headers({ authorization: `Bearer ${await access()}` }),
    fetch: async (input: string | URL, { method, headers, body, signal }: RequestInit = {}): Promise<Response> => {
      const sent = new Headers(headers);
      sent.set('authorization', `Bearer ${await access()}`);
      const answer = await send({
        ...{ url: String(input), method: (method ?? 'GET') as 'GET', headers: Object.fromEntries(sent), signal: signal ?? undefined },
        ...(typeof body === 'string' ? { body } : {}),
      });
      return new Response(new Uint8Array(answer.body), { status: answer.status, headers: { 'content-type': 'application/json' } });
    },
  };
}
