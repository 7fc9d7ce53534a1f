/** What a path of the ACME server asks for. `id` is of an account, order, authorization or challenge. */
export type AcmeTarget = {
  slug: string;
  sandbox: boolean;
  root_id: string;
  role: string;
  resource: Resource;
  id: string;
};
export type Resource = (typeof PLAIN)[number] | 'account' | 'orders' | 'order' | 'finalize' | 'cert' | 'authz' | 'challenge';

const PLAIN = ['directory', 'new-nonce', 'new-account', 'new-order', 'key-change', 'revoke-cert'] as const;

const PATH =
  /^\/pub\/(?<slug>[a-z0-9-]{1,64})\/(?<test>test\/)?pki\/(?<root>[0-9a-f-]{36})\/acme\/(?<role>[a-z0-9][a-z0-9_-]{0,62})\/(?<rest>[a-z0-9/-]{1,128})$/;
const WITH_ID = /^(account|order|cert|authz|challenge)\/([0-9a-f-]{36})(?:\/(orders|finalize))?$/;

/** Whether a path is of this plane: the rest of /pub is not. */
export const isAcmePath = (path: string): boolean => PATH.test(path);

/** The target of a path; null for what names nothing. */
export function acmeTarget(path: string): AcmeTarget | null {
  const found = PATH.exec(path)?.groups;
  if (!found) return null;
  const { slug = '', root = '', role = '', rest = '' } = found;
  const at = { slug, sandbox: found.test !== undefined, root_id: root, role };
  const plain = PLAIN.find((name) => name === rest);
  if (plain) return { ...at, resource: plain, id: '' };
  const [, kind = '', id = '', below] = WITH_ID.exec(rest) ?? [];
  if (kind === '') return null;
  if (below === undefined) return { ...at, resource: kind as Resource, id };
  if ((kind === 'account') === (below === 'orders') && (kind === 'order') === (below === 'finalize'))
    return { ...at, resource: below as Resource, id };
  return null;
}
