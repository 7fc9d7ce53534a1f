import * as account from '#server/domain/account/words.ts';
import * as apiKeys from '#server/domain/api-keys/words.ts';
import * as auditLogs from '#server/domain/audit-logs/words.ts';
import * as clients from '#server/domain/clients/words.ts';
import * as collections from '#server/domain/collections/words.ts';
import * as environments from '#server/domain/environments/words.ts';
import * as logs from '#server/domain/request-logs/words.ts';
import * as roles from '#server/domain/roles/words.ts';
import * as routes from '#server/domain/routes/words.ts';
import * as secrets from '#server/domain/secrets/words.ts';
import * as signup from '#server/domain/signup/words.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { sharedWords, type Words } from '#server/kernel/words.ts';
import type { Json } from './json.ts';

type Family = { about: string; words: Words };

/** By the first part of an operation's id. */
const FAMILIES: Readonly<Record<string, Family>> = {
  account,
  api_keys: apiKeys,
  audit_logs: auditLogs,
  clients,
  collections,
  environments,
  logs,
  openapi: { about: 'The OpenAPI document of this API.', words: {} },
  roles,
  routes: { about: routes.about, words: { ...logs.words, ...routes.words } },
  secrets,
  signup,
};

/** The words of an operation's family. @throws Error for a family without any */
export function familyOf(op: AnyOperation): Family {
  const name = op.id.split('.')[0] ?? op.id;
  const family = FAMILIES[name];
  if (!family) throw new Error(`No field descriptions for the family ${name}: add a words.ts.`);
  return family;
}

/** What a field means; undefined when nobody said so. `parent` is the field or the component it stands in. */
export const meaningOf = (words: Words, name: string, parent = ''): string | undefined =>
  words[`${parent}.${name}`] ?? sharedWords[`${parent}.${name}`] ?? words[name] ?? sharedWords[name];

/** Puts its meaning on every property of a JSON Schema that has none of its own, however deep. */
export function explain(schema: unknown, words: Words, parent = ''): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, items, additionalProperties, anyOf, oneOf } = schema as Record<string, unknown>;
  for (const [name, field] of Object.entries((properties ?? {}) as Record<string, Json>)) {
    explain(field, words, name);
    const meaning = meaningOf(words, name, parent);
    if (meaning !== undefined) field.description ??= meaning;
  }
  for (const option of (anyOf ?? oneOf ?? []) as Json[]) explain(option, words, parent);
  explain(items, words, parent);
  explain(additionalProperties, words, parent);
}
