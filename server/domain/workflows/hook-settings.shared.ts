import { configOf, isRecord, triggerOf, triggerTypeOf } from './definition.shared.ts';

// The config of a webhook trigger (interface rule 62 §5): which calls of its URL start a run, and whether the caller waits for set_response.

export const HOOK_METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'any'] as const;
export const HOOK_FORMATS = ['legacy', 'stripe', 'github', 'slack', 'aws-sns', 'custom'] as const;
export type HookFormat = (typeof HOOK_FORMATS)[number];

/** `secret` is a reference, `{{secret:NAME}}` or `{{secret_id:UUID}}`, and never the value: a definition is no place for one. */
export type HookAuth =
  | { type: 'none' }
  | { type: 'header'; name: string; secret: string }
  /** `header` carries the signature in the format custom. */
  | { type: 'hmac'; format: HookFormat; secret: string; header: string | null };
export type HookSettings = { method: (typeof HOOK_METHODS)[number]; auth: HookAuth; mode: 'async' | 'sync' };

const REFERENCE = /^\{\{\s*(?:secret:[A-Za-z0-9_.-]{1,128}|secret_id:[0-9a-fA-F-]{36})\s*\}\}$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/** The settings of a definition with a webhook trigger; null for any other trigger, and for settings that aren't well-formed. */
export function hookSettingsOf(definition: unknown): HookSettings | null {
  const node = triggerOf(definition);
  if (!node || triggerTypeOf(definition) !== 'webhook') return null;
  const config = configOf(node);
  if (hookProblem(config) !== null) return null;
  const { method, mode } = config as Partial<HookSettings>;
  return { method: method || 'POST', mode: mode || 'async', auth: authOf(config.auth) };
}

/** What is wrong with the config of a webhook trigger, for people; null when nothing is. */
export function hookProblem(config: Record<string, unknown>): string | null {
  const [method, mode] = [config.method || 'POST', config.mode || 'async'];
  const auth = config.auth === 'none' || !config.auth ? { type: 'none' } : config.auth;
  if (!HOOK_METHODS.some((one) => one === method)) return `method must be one of ${HOOK_METHODS.join(', ')}`;
  if (mode !== 'async' && mode !== 'sync') return 'mode must be async or sync';
  if (!isRecord(auth)) return 'auth must be an object';
  switch (auth.type) {
    case 'none':
    case undefined:
      return null;
    case 'header':
      if (typeof auth.name !== 'string' || !TOKEN.test(auth.name)) return 'auth.name must be the name of a header';
      return secretProblem(auth.secret);
    case 'hmac':
      if (!HOOK_FORMATS.some((one) => one === (auth.format || 'legacy'))) return `auth.format must be one of ${HOOK_FORMATS.join(', ')}`;
      if (auth.format === 'custom' && (typeof auth.header !== 'string' || !TOKEN.test(auth.header)))
        return 'auth.header must name the header of the signature';
      return secretProblem(auth.secret);
    default:
      return 'auth.type must be none, header or hmac';
  }
}

const secretProblem = (secret: unknown): string | null =>
  typeof secret === 'string' && REFERENCE.test(secret) ? null : 'auth.secret must name a secret as {{secret:NAME}}';

function authOf(auth: unknown): HookAuth {
  if (!isRecord(auth)) return { type: 'none' };
  const secret = String(auth.secret ?? '');
  if (auth.type === 'header') return { type: 'header', name: String(auth.name), secret };
  if (auth.type !== 'hmac') return { type: 'none' };
  const format = HOOK_FORMATS.find((one) => one === auth.format) ?? 'legacy';
  return { type: 'hmac', format, secret, header: format === 'custom' ? String(auth.header) : null };
}
