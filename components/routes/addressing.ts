/** A call to repeat through the gateway: its path is relative to the upstream URL. */
export type RoutedCall = {
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
  /** curl options that build the body from a form or a file. */
  body_options?: readonly string[] | undefined;
};
export type CallSnippet = {
  /** GET by default. */
  method?: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  text?: string | undefined;
  options?: readonly string[] | undefined;
};

export type Addressed = {
  proxyUrl: string;
  reference: string;
  environment?: string | undefined;
  key?: string;
  call?: RoutedCall | undefined;
};

/** Both ways to address a route: by the first path segment, and by the header X-Svc-Route (interface rule 12 §3). */
export function addressings({ proxyUrl, reference, environment, key = 'YOUR_KEY', call }: Addressed): {
  byPath: CallSnippet;
  byHeader: CallSnippet;
} {
  const { method = 'GET', path: given = '/', headers: own, body: text, body_options: options } = call ?? {};
  const path = given.startsWith('/') ? given : `/${given}`;
  const headers = { 'X-Svc-Key': key, ...(environment ? { 'X-Svc-Environment': environment } : {}) };
  const same = { method, text, options };
  return {
    byPath: { ...same, url: `${proxyUrl}/${encodeURIComponent(reference)}${path}`, headers: { ...headers, ...own } },
    byHeader: { ...same, url: `${proxyUrl}/api${path}`, headers: { ...headers, 'X-Svc-Route': reference, ...own } },
  };
}
