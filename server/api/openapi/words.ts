import * as accountReference from '#server/domain/account/reference.ts';
import * as account from '#server/domain/account/words.ts';
import * as apiKeysReference from '#server/domain/api-keys/reference.ts';
import * as apiKeys from '#server/domain/api-keys/words.ts';
import * as auditLogsReference from '#server/domain/audit-logs/reference.ts';
import * as auditLogs from '#server/domain/audit-logs/words.ts';
import * as clientsReference from '#server/domain/clients/reference.ts';
import * as clients from '#server/domain/clients/words.ts';
import * as collectionsReference from '#server/domain/collections/reference.ts';
import * as collections from '#server/domain/collections/words.ts';
import * as environmentsReference from '#server/domain/environments/reference.ts';
import * as environments from '#server/domain/environments/words.ts';
import * as logsReference from '#server/domain/request-logs/reference.ts';
import * as logs from '#server/domain/request-logs/words.ts';
import * as rolesReference from '#server/domain/roles/reference.ts';
import * as roles from '#server/domain/roles/words.ts';
import * as routesReference from '#server/domain/routes/reference.ts';
import * as routes from '#server/domain/routes/words.ts';
import * as secretsReference from '#server/domain/secrets/reference.ts';
import * as secrets from '#server/domain/secrets/words.ts';
import * as signupReference from '#server/domain/signup/reference.ts';
import * as signup from '#server/domain/signup/words.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import type { Described, Examples } from '#server/kernel/reference.ts';
import { sharedWords, type Words } from '#server/kernel/words.ts';
import type { Json } from './json.ts';

type Family = { about: string; words: Words; examples: Examples; operations: Described };

/** By the first part of an operation's id. */
const FAMILIES: Readonly<Record<string, Family>> = {
  account: { ...account, ...accountReference },
  api_keys: { ...apiKeys, ...apiKeysReference },
  audit_logs: { ...auditLogs, ...auditLogsReference },
  clients: { ...clients, ...clientsReference },
  collections: { ...collections, ...collectionsReference },
  environments: { ...environments, ...environmentsReference },
  logs: { ...logs, ...logsReference },
  openapi: {
    about: 'The OpenAPI document of this API.',
    words: {},
    examples: {},
    operations: { 'openapi.get': { description: 'Returns the OpenAPI 3.1 description of this API.', success: 'The OpenAPI document.' } },
  },
  roles: { ...roles, ...rolesReference },
  routes: { ...routes, ...routesReference, words: { ...logs.words, ...routes.words } },
  secrets: { ...secrets, ...secretsReference },
  signup: { ...signup, ...signupReference },
};

/** The words of an operation's family. @throws Error for a family without any */
export function familyOf(op: AnyOperation): Family {
  const name = op.id.split('.')[0] ?? op.id;
  const family = FAMILIES[name];
  if (!family) throw new Error(`No field descriptions for the family ${name}: add a words.ts.`);
  return family;
}

/** What an operation does and answers. @throws Error for one that its family does not describe */
export function describedBy(op: AnyOperation): Described[string] {
  const described = familyOf(op).operations[op.id];
  if (!described) throw new Error(`${op.id} is not described: add it to the reference.ts of its family.`);
  return described;
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
