import type { Proposal } from '#server/domain/import/schema.ts';
import catalog from './known-apis.json' with { type: 'json' };

/**
 * An API as its documentation describes it. The catalog is data: adding an API needs no code. Injected headers override the caller's, so a version
 * header is listed only where the API requires one.
 */
export type KnownApi = {
  name: string;
  about: string;
  /** A monogram, white on the color. */
  mark: { letters: string; color: string };
  target_base_url: string;
  /** Header -> template; {{secret:NAME}} names the secrets below. */
  headers: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  secrets: readonly { name: string; note: string }[];
  /** A harmless GET that shows whether the credential works. */
  try_path: string;
  docs: string;
};

/** When every entry was last compared with the provider's documentation, as YYYY-MM-DD. */
export const KNOWN_APIS_CHECKED_ON: string = catalog.checked_on;
export const KNOWN_APIS = catalog.apis as unknown as readonly KnownApi[];

/** The proposal for a known API, under names that are free in this space. */
export function proposalOf(api: KnownApi, taken: { routes: ReadonlySet<string>; secrets: ReadonlySet<string> }): Proposal {
  const renamed = new Map(api.secrets.map(({ name }) => [name, free(name, taken.secrets, '_')]));
  const put = (templates: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(templates).map(([name, text]) => [
        name,
        text.replace(/\{\{secret:(\w+)\}\}/g, (_, secret: string) => `{{secret:${renamed.get(secret) ?? secret}}}`),
      ]),
    );
  return {
    routes: [
      {
        name: free(api.name, taken.routes, ' '),
        target_base_url: api.target_base_url,
        inject_headers_json: put(api.headers),
        inject_query_json: put(api.query ?? {}),
        sample_call: { method: 'GET', path: api.try_path },
      },
    ],
    secrets: api.secrets.map(({ name, note }) => ({ name: renamed.get(name) ?? name, note })),
    warnings: [],
  };
}

function free(name: string, taken: ReadonlySet<string>, joint: string): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) if (!taken.has(`${name}${joint}${n.toString()}`)) return `${name}${joint}${n.toString()}`;
}
