/** Names of secrets by id, in lower case. */
export type SecretNames = ReadonlyMap<string, string>;

const BY_ID = /\{\{\s{0,9}secret_id\s{0,9}:\s{0,9}([0-9a-fA-F-]{36})\s{0,9}\}\}/g;
const BY_NAME = /\{\{secret:([A-Za-z0-9_.-]{1,128})\}\}/g;

/** A template as people read it: secrets by name, also those that are stored by id. */
export const withNames = (template: string, names: SecretNames): string =>
  template.replace(BY_ID, (whole, id: string) => {
    const name = names.get(id.toLowerCase());
    return name === undefined ? whole : `{{secret:${name}}}`;
  });

/** What was typed over a template that was shown by names, as it is stored: a secret that stood there by id still does. */
export function withIds(typed: string, stored: string, names: SecretNames): string {
  const ids = new Map(idsIn(stored).flatMap((id) => (names.has(id) ? [[names.get(id), id]] : [])));
  return typed.replace(BY_NAME, (whole, name: string) => (ids.has(name) ? `{{secret_id:${ids.get(name)}}}` : whole));
}

/** Ids of the secrets that a template names by id. */
export const idsIn = (template: string): string[] => [...new Set(Array.from(template.matchAll(BY_ID), ([, id = '']) => id.toLowerCase()))];
