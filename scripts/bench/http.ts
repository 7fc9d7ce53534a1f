import http from 'node:http';

export type Answer = { status: number; body: string; ms: number };

/** One GET; `ms` is from sending to the last byte. Rejects when nobody answers. */
export function get(url: string, headers: Readonly<Record<string, string>> = {}, agent?: http.Agent): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), ms: performance.now() - began }),
      );
    });
    request.on('error', reject);
  });
}

/** True when the URL gives any answer below 400. */
export const answers = (url: string, headers?: Readonly<Record<string, string>>): Promise<boolean> =>
  get(url, headers).then(
    ({ status }) => status < 400,
    () => false,
  );
