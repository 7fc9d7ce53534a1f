import type { Snippet } from '#components/ui/code-block.tsx';

export type CallSnippet = { url: string; headers: Readonly<Record<string, string>> };

/** A GET through the gateway, as one would write it in each language. Values are put in as literals of that language. */
export function callSnippets({ url, headers }: CallSnippet): readonly [Snippet, ...Snippet[]] {
  const lines = Object.entries(headers);
  const js = JSON.stringify(headers, null, 2).replace(/\n/g, '\n  ');
  return [
    {
      id: 'curl',
      label: 'curl',
      language: 'bash',
      code: [`curl -sS ${shell(url)}`, ...lines.map(([n, v]) => `-H ${shell(`${n}: ${v}`)}`)].join(' \\\n  '),
    },
    {
      id: 'node',
      label: 'Node',
      language: 'javascript',
      code: `const response = await fetch(${JSON.stringify(url)}, {\n  headers: ${js},\n});\nconsole.log(response.status, await response.json());`,
    },
    {
      id: 'python',
      label: 'Python',
      language: 'python',
      code: `import json, urllib.request\n\nrequest = urllib.request.Request(\n    ${JSON.stringify(url)},\n    headers=${JSON.stringify(headers)},\n)\nwith urllib.request.urlopen(request) as response:\n    print(response.status, json.load(response))`,
    },
    {
      id: 'go',
      label: 'Go',
      language: 'text',
      code: `req, _ := http.NewRequest("GET", ${JSON.stringify(url)}, nil)\n${lines.map(([n, v]) => `req.Header.Set(${JSON.stringify(n)}, ${JSON.stringify(v)})`).join('\n')}\nres, err := http.DefaultClient.Do(req)`,
    },
  ];
}

const shell = (text: string) => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

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
