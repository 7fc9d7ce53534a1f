import type { Proposal, ProposedRoute } from '#server/domain/import/schema.ts';

/** What the person made of a proposal. Keys are the proposed names, which the server made unique. */
export type Selection = {
  routes: Readonly<Record<string, { chosen: boolean; name: string; target_base_url: string }>>;
  secrets: Readonly<Record<string, { name: string; value: string }>>;
};

/** All that a proposal holds. */
export const everything = (proposal: Proposal): Selection => ({
  routes: Object.fromEntries(
    proposal.routes.map((route) => [route.name, { chosen: true, name: route.name, target_base_url: route.target_base_url }]),
  ),
  secrets: Object.fromEntries(proposal.secrets.map((secret) => [secret.name, { name: secret.name, value: secret.value ?? '' }])),
});

/** The proposed secrets that the chosen routes name; others would be stored for nothing. */
export function neededSecrets(proposal: Proposal, selection: Selection): string[] {
  const texts = proposal.routes.filter((route) => selection.routes[route.name]?.chosen).flatMap(templatesOf);
  return proposal.secrets.map((secret) => secret.name).filter((name) => texts.some((text) => text.includes(placeholder(name))));
}

export type Place = { environment: string | undefined; collection_id: string | null };

/** The body of the import: chosen routes with the names as edited, and the secrets they need. An empty value is left to be filled in later. */
export function importBody(proposal: Proposal, selection: Selection, { environment, collection_id }: Place) {
  const needed = neededSecrets(proposal, selection);
  const renamed = (map: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(map).map(([name, text]) => [
        name,
        needed.reduce((out, old) => out.replaceAll(placeholder(old), placeholder(selection.secrets[old]?.name ?? old)), text),
      ]),
    );
  return {
    routes: proposal.routes.flatMap((route) => {
      const edited = selection.routes[route.name];
      if (!edited?.chosen) return [];
      return [
        {
          name: edited.name,
          target_base_url: edited.target_base_url,
          inject_headers_json: renamed(route.inject_headers_json),
          inject_query_json: renamed(route.inject_query_json),
          ...(route.allowed_methods ? { allowed_methods: route.allowed_methods as never } : {}),
          ...(environment ? { base_environment: environment } : {}),
          ...(collection_id ? { collection_id } : {}),
        },
      ];
    }),
    secrets: needed.map((old) => {
      const { name, value } = selection.secrets[old] ?? { name: old, value: '' };
      return {
        name,
        ...(value ? { value } : {}),
        ...(environment && value ? { environment } : {}),
        ...(collection_id ? { collection_id } : {}),
      };
    }),
  };
}

const placeholder = (name: string) => `{{secret:${name}}}`;
const templatesOf = (route: ProposedRoute) => [...Object.values(route.inject_headers_json), ...Object.values(route.inject_query_json)];

/** A command, or a description: told by how it begins. Undefined when it could be either. */
export function kindOf(text: string): 'curl' | 'openapi' | undefined {
  if (/^\s*(?:\$\s+)?curl(?:\.exe)?\s/.test(text)) return 'curl';
  return /^\s*[{]|^\s*(?:openapi|swagger|info|paths)\s*:/m.test(text) ? 'openapi' : undefined;
}
