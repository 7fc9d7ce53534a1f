export type CurlCall = { method: string; url: string; headers?: Readonly<Record<string, string>>; body?: object | undefined };

/**
 * A call as one shell command. A header that names a shell variable is put in double quotes so that it expands; everything else is quoted
 * so that no shell reads anything into it.
 */
export function curlOf({ method, url, headers = {}, body }: CurlCall): string {
  const parts = [method === 'GET' ? `curl ${quoted(url)}` : `curl -X ${method} ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${header(name, value)}`);
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`);
  return parts.join(' \\\n  ');
}

const header = (name: string, value: string) =>
  /\$[A-Z_]+/.test(value) ? `"${`${name}: ${value}`.replace(/["\\`]/g, '\\$&')}"` : quoted(`${name}: ${value}`);

/** Bare when nothing in it means anything to a shell. */
const quoted = (text: string) => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
