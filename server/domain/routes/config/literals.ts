import type { Ctx } from '#server/kernel/context.ts';
import type { ConfigField } from '../effective.ts';
import type { Draft } from './draft.ts';
import { looksLikeCredential } from './literal-credential.shared.ts';
import { slotsOf } from './references.ts';

/** More would be noise. */
const MOST_WARNINGS = 10;

/**
 * Warns about literal credentials in the templates that are being written: a configuration isn't encrypted, and everyone who may read the route may
 * read it. Names the fields, never the values.
 */
export function warnOfLiterals(ctx: Ctx, draft: Draft, touched: (environment: string, field: ConfigField) => boolean): void {
  const paths = [...draft.locals].flatMap(([environment, local]) =>
    slotsOf(environment, local).flatMap(({ field, path, text, place }) =>
      place === 'value' && field !== 'target_base_url' && touched(environment, field) && looksLikeCredential(nameIn(path), text)
        ? [path]
        : [],
    ),
  );
  const different = [...new Set(paths)];
  for (const path of different.slice(0, MOST_WARNINGS))
    ctx.warnings.push(`${path} looks like a credential and isn't encrypted. Store it as a secret and use {{secret:NAME}} instead.`);
  const more = different.length - MOST_WARNINGS;
  if (more > 0) ctx.warnings.push(`${more} more ${more === 1 ? 'field looks' : 'fields look'} like credentials that aren't encrypted.`);
}

/** `inject_body_json.card.token[0]` ends in `token`. */
const nameIn = (path: string): string => path.slice(path.lastIndexOf('.') + 1).split('[')[0] ?? '';
