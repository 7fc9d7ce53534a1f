import type { METHODS } from '#server/domain/routes/config/schema.ts';

export type ProxyDraft = {
  url: string;
  method: (typeof METHODS)[number];
  /** Name of a wrap credential, or `none`. */
  secret: string;
  /** `Name: value` lines. */
  headers: string;
  body: string;
  encrypted: string;
};

const headersOf = (text: string): { name: string; value: string }[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? { name: line.trim(), value: '' } : { name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
    });

/** The call as the console sends it. Without a media type a body is JSON, as for every caller of the proxy. */
export const callOf = ({ url, method, secret, headers, body, encrypted }: ProxyDraft) => ({
  url: url.trim(),
  method,
  headers: headersOf(headers),
  ...(secret === 'none' ? {} : { secret }),
  ...(body === '' ? {} : { body }),
  ...(encrypted.trim() === '' ? {} : { encrypted: encrypted.trim() }),
});

/** The same call as a program makes it, with a key of its own. */
export function snippetOf(draft: ProxyDraft): string {
  const { url, method, headers, secret, body, encrypted } = callOf(draft);
  const named = [
    ['X-Svc-Proxy-URL', url],
    ...(secret === undefined ? [] : [['X-Svc-Upstream-Auth-Secret', secret]]),
    ...(encrypted === undefined ? [] : [['X-Svc-Encrypted', '$(base64 < encrypted.json)']]),
    ...headers.map(({ name, value }) => [name, value]),
  ];
  return [
    `curl "$SALLYPORT_URL/proxy"${method === 'GET' ? '' : ` -X ${method}`}`,
    `-H "Authorization: Bearer $SALLYPORT_KEY"`,
    ...named.map(([name, value]) => (name === 'X-Svc-Encrypted' ? `-H "${name}: ${value}"` : `-H ${quoted(`${name}: ${value}`)}`)),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
