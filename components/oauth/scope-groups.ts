/** Scopes by the part before the colon, in the order they came; the families that read and write one thing belong together. */
export function groupsOf<S extends { name: string }>(scopes: readonly S[]): { family: string; scopes: S[] }[] {
  const groups = new Map<string, S[]>();
  for (const scope of scopes) {
    const family = scope.name.slice(0, scope.name.indexOf(':'));
    const key = TOGETHER[family] ?? family;
    groups.set(key, [...(groups.get(key) ?? []), scope]);
  }
  return [...groups].map(([family, own]) => ({ family, scopes: own }));
}

const TOGETHER: Readonly<Record<string, string>> = { vault: 'vaults', dyn_db_cred: 'dyn_db', oauth: 'oauth_clients' };
