export type CallSnippet = { url: string; headers: Readonly<Record<string, string>> };

export type Addressed = { proxyUrl: string; reference: string; environment?: string | undefined; key?: string; path?: string };

/** Both ways to address a route: by the first path segment, and by the header X-Svc-Route (interface rule 12 §3). */
export function addressings({ proxyUrl, reference, environment, key = 'YOUR_KEY', path = '/' }: Addressed): {
  byPath: CallSnippet;
  byHeader: CallSnippet;
} {
  const headers = { 'X-Svc-Key': key, ...(environment ? { 'X-Svc-Environment': environment } : {}) };
  return {
    byPath: { url: `${proxyUrl}/${encodeURIComponent(reference)}${path}`, headers },
    byHeader: { url: `${proxyUrl}/api${path}`, headers: { ...headers, 'X-Svc-Route': reference } },
  };
}
