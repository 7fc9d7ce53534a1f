import { z } from 'zod';
import type { Engine } from '#server/domain/dyn-db/engines.shared.ts';
import { creationProblem, revocationProblem } from '#server/domain/dyn-db/placeholders.shared.ts';
import { BUILT_IN_TEMPLATES, builtInTemplate } from '#server/domain/dyn-db/templates.shared.ts';
import { ttlField } from './connection-draft.ts';
import type { Role } from './labels.ts';
import { secondsIn, ttlText } from './ttl-text.ts';

/** Stands for statements of one's own among the names of templates. */
export const CUSTOM = 'custom';

/** The form of a role on an engine; `iam` roles name lifetimes alone. */
export const roleSchema = (engine: Engine, iam: boolean) =>
  z
    .object({
      name: z
        .string()
        .regex(
          /^[a-z0-9][a-z0-9_-]{0,62}$/,
          'may have lower-case letters, digits, dashes and underscores, and begins with a letter or digit',
        ),
      template: z.string(),
      creation_sql: z.string().max(32_768),
      revocation_sql: z.string().max(32_768),
      default_ttl_seconds: ttlField('empty'),
      max_ttl_seconds: ttlField('empty'),
    })
    .superRefine((value, context) => {
      if (iam) return;
      const creation = value.template === CUSTOM ? creationProblem(value.creation_sql, engine) : null;
      if (creation) context.addIssue({ code: 'custom', path: ['creation_sql'], message: creation });
      const revocation = value.revocation_sql.trim() === '' ? null : revocationProblem(value.revocation_sql, engine);
      if (revocation) context.addIssue({ code: 'custom', path: ['revocation_sql'], message: revocation });
    });
export type RoleDraft = z.output<ReturnType<typeof roleSchema>>;

export const templatesOf = (engine: Engine) => BUILT_IN_TEMPLATES.filter((template) => template.engine === engine);

/** What the form starts with: a role as it is, or the first template. */
export function roleDraftOf(role: Role | undefined, engine: Engine): RoleDraft {
  const built = role?.template ? builtInTemplate(role.template, engine) : undefined;
  return {
    name: role?.name ?? '',
    template: role ? (built?.name ?? CUSTOM) : `${engine}-readonly`,
    creation_sql: built ? '' : (role?.creation_sql_template ?? ''),
    revocation_sql: role?.revocation_sql_template ?? '',
    default_ttl_seconds: textOf(role?.default_ttl_seconds),
    max_ttl_seconds: textOf(role?.max_ttl_seconds),
  };
}

const textOf = (seconds: number | null | undefined) => (seconds === null || seconds === undefined ? '' : ttlText(seconds));

/** The statements that a draft stands for. */
export const creationOf = (draft: Pick<RoleDraft, 'template' | 'creation_sql'>, engine: Engine): string =>
  draft.template === CUSTOM ? draft.creation_sql : (builtInTemplate(draft.template, engine)?.creation ?? '');

/** The body of the call that makes a role. */
export function newRoleBody(draft: RoleDraft, iam: boolean) {
  const { name, template, creation_sql, revocation_sql, default_ttl_seconds, max_ttl_seconds } = draft;
  return {
    name,
    ...(iam ? {} : template === CUSTOM ? { creation_sql } : { template }),
    ...(iam || revocation_sql.trim() === '' ? {} : { revocation_sql }),
    ...(default_ttl_seconds.trim() === '' ? {} : { default_ttl_seconds: secondsIn(default_ttl_seconds) }),
    ...(max_ttl_seconds.trim() === '' ? {} : { max_ttl_seconds: secondsIn(max_ttl_seconds) }),
  };
}

/** The fields that differ from the role as it was. */
export function roleChanges(draft: RoleDraft, before: RoleDraft, iam: boolean) {
  const creation = draft.template !== before.template || draft.creation_sql !== before.creation_sql;
  const ttl = (text: string) => (text.trim() === '' ? null : secondsIn(text));
  return {
    ...(iam || !creation ? {} : draft.template === CUSTOM ? { creation_sql: draft.creation_sql } : { template: draft.template }),
    ...(iam || draft.revocation_sql === before.revocation_sql
      ? {}
      : { revocation_sql: draft.revocation_sql.trim() === '' ? null : draft.revocation_sql }),
    ...(draft.default_ttl_seconds === before.default_ttl_seconds ? {} : { default_ttl_seconds: ttl(draft.default_ttl_seconds) }),
    ...(draft.max_ttl_seconds === before.max_ttl_seconds ? {} : { max_ttl_seconds: ttl(draft.max_ttl_seconds) }),
  };
}
