import { domainOf } from '#server/domain/domains/service.ts';
import { canonicalEmail } from '#server/domain/people/service.ts';
import { invalid } from '#server/kernel/errors.ts';
import { fold } from '#server/kernel/fold.ts';

export type DirectoryEmail = { value?: string; type?: string; primary?: boolean };

/** A person as the directory describes them. Absent values are null. */
export type DirectoryPerson = {
  user_name: string;
  external_id: string | null;
  given_name: string | null;
  family_name: string | null;
  formatted: string | null;
  display_name: string | null;
  emails: DirectoryEmail[];
};

/** A record of a directory as it is stored, with what is derived. */
export type DirectoryRecord = DirectoryPerson & {
  id: string;
  user_id: string | null;
  address: string;
  created_at: Date;
  updated_at: Date;
  synced_at: Date;
  /** Whether the person is a member of the workspace. */
  member: boolean;
  /** A member whose account isn't disabled. Never stored. */
  active: boolean;
};

/** Whether the person of `s` in `scim_users s` is a member with an enabled account, as a condition of a query. */
export const ACTIVE = `exists (select from memberships m join users u on u.id = m.user_id
  where m.tenant_id = s.tenant_id and m.user_id = s.user_id and m.removed_at is null and u.disabled_at is null)`;
/** The same as columns of a page. With EXISTS PostgreSQL would read all members of the workspace to answer for a hundred. */
const MEMBER_COLUMN = `coalesce((select true from memberships m where m.tenant_id = s.tenant_id and m.user_id = s.user_id and m.removed_at is null limit 1), false)`;
const ACTIVE_COLUMN = `coalesce((select u.disabled_at is null from memberships m join users u on u.id = m.user_id
  where m.tenant_id = s.tenant_id and m.user_id = s.user_id and m.removed_at is null limit 1), false)`;
export const COLUMNS = `s.id, s.user_id, s.address, s.user_name, s.external_id, s.given_name, s.family_name, s.formatted, s.display_name, s.emails,
  s.created_at, s.updated_at, s.synced_at, ${MEMBER_COLUMN} as member, ${ACTIVE_COLUMN} as active`;

/** The columns that hold a description. */
export const storedPerson = (person: DirectoryPerson) => ({
  user_name: person.user_name,
  user_name_folded: fold(person.user_name),
  external_id: person.external_id,
  given_name: person.given_name,
  family_name: person.family_name,
  formatted: person.formatted,
  display_name: person.display_name,
  emails: person.emails,
});

/** SCIM names of what differs between two descriptions. */
export function changedAttributes(before: DirectoryPerson, after: DirectoryPerson): string[] {
  const differs = (key: keyof DirectoryPerson) => JSON.stringify(before[key]) !== JSON.stringify(after[key]);
  return (Object.keys(ATTRIBUTES) as (keyof DirectoryPerson)[]).filter(differs).map((key) => ATTRIBUTES[key]);
}
const ATTRIBUTES: Readonly<Record<keyof DirectoryPerson, string>> = {
  user_name: 'userName',
  external_id: 'externalId',
  given_name: 'name.givenName',
  family_name: 'name.familyName',
  formatted: 'name.formatted',
  display_name: 'displayName',
  emails: 'emails',
};

/**
 * The address that a person signs in with: the user name if it is one, else the primary, the first work or the first e-mail (interface rule 23 §6.2).
 * @throws Refusal validation_error
 */
export function addressOf({ user_name, emails }: DirectoryPerson): string {
  const found = [
    user_name,
    emails.find(({ primary }) => primary)?.value,
    emails.find(({ type }) => type?.toLowerCase() === 'work')?.value,
    ...emails.map(({ value }) => value),
  ].find((text) => text !== undefined && isAddress(text));
  if (found === undefined) throw invalid('userName', 'must be an email address, or emails must contain one');
  return canonicalEmail(found);
}

const isAddress = (text: string) =>
  text.length <= 254 && /^[^@\s\u0000-\u001f]+@[^@\s\u0000-\u001f]+$/.test(text.trim()) && domainOf(text.trim()) !== undefined;

/** How an account that is made for the person is called at first. */
export const fullNameOf = ({ formatted, given_name, family_name, display_name }: DirectoryPerson): string =>
  (formatted ?? ([given_name, family_name].filter(Boolean).join(' ') || display_name || ''))
    .replace(/[\u0000-\u001f\u007f]/g, ' ')
    .trim()
    .slice(0, 120);
