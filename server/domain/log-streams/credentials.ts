import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { keyring } from '#server/platform/keys.ts';
import type { StreamKind } from './schema.ts';

/** What a destination must be shown; which members are set depends on its kind. Only ever sealed or on its way. */
export type StreamCredentials = { headers?: Record<string, string>; token?: string; secret_access_key?: string };

/** What each kind takes, and what of it a stream can't be without. */
const FIELDS: Record<StreamKind, { takes: readonly string[]; needs: readonly string[] }> = {
  https: { takes: ['headers'], needs: [] },
  otlp: { takes: ['headers'], needs: [] },
  splunk: { takes: ['token'], needs: ['token'] },
  datadog: { takes: ['token'], needs: ['token'] },
  s3: {
    takes: ['region', 'prefix', 'access_key_id', 'secret_access_key'],
    needs: ['region', 'access_key_id', 'secret_access_key'],
  },
};
/** Of what a kind takes, the member that is sealed. */
export const CREDENTIAL_OF: Readonly<Record<StreamKind, keyof StreamCredentials>> = {
  https: 'headers',
  otlp: 'headers',
  splunk: 'token',
  datadog: 'token',
  s3: 'secret_access_key',
};
const ALL = [...new Set(Object.values(FIELDS).flatMap(({ takes }) => takes))];
/** The service sets these itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set(
  'host content-length content-type transfer-encoding connection expect upgrade te trailer accept-encoding'.split(' '),
);

type Given = Readonly<Record<string, unknown>> & StreamCredentials;

/** @throws Refusal validation_error for what another kind takes, and on creation for what is missing */
export function assertFields(kind: StreamKind, given: Given, creating: boolean): void {
  const { takes, needs } = FIELDS[kind];
  const foreign = ALL.find((field) => given[field] !== undefined && !takes.includes(field));
  if (foreign) throw invalid(foreign, `is not for streams of kind ${kind}`);
  const missing = creating ? needs.find((field) => given[field] === undefined) : undefined;
  if (missing) throw invalid(missing, `is required for streams of kind ${kind}`);
  const own = Object.keys(given.headers ?? {}).find((name) => OWN_HEADERS.has(name.toLowerCase()));
  if (own) throw invalid('headers', `must not set ${own}, which the service sets itself`);
}

/** The members of an input that are sealed; undefined when it has none. */
export function credentialsOf({ headers, token, secret_access_key }: Given): StreamCredentials | undefined {
  const credentials: StreamCredentials = {
    ...(headers === undefined ? {} : { headers }),
    ...(token === undefined ? {} : { token }),
    ...(secret_access_key === undefined ? {} : { secret_access_key }),
  };
  return Object.keys(credentials).length === 0 ? undefined : credentials;
}

const placeOf = (ctx: Ctx, id: string) =>
  ({ tenant_id: ctx.tenant_id, space: spaceOf(ctx.sandbox), purpose: 'log_stream', row_id: id }) as const;

/** The columns for credentials. Sealed before the transaction opens, so that no lock waits for a key. @throws Refusal tenant_sealed */
export async function sealCredentials(ctx: Ctx, id: string, credentials: StreamCredentials) {
  const bytes = Buffer.from(JSON.stringify(credentials), 'utf8');
  try {
    const { value_ct, cek_wrapped, tmk_version } = await keyring().sealValue(placeOf(ctx, id), bytes).catch(whenSealed);
    return { value_ct: new Uint8Array(value_ct), cek_wrapped: new Uint8Array(cek_wrapped), tmk_version };
  } finally {
    bytes.fill(0);
  }
}

type SealedColumns = { id: string; value_ct: Uint8Array | null; cek_wrapped: Uint8Array | null; tmk_version: number | null };

/** @throws Refusal tenant_sealed */
export async function openCredentials(ctx: Ctx, { id, value_ct, cek_wrapped, tmk_version }: SealedColumns): Promise<StreamCredentials> {
  if (!value_ct || !cek_wrapped || tmk_version === null) return {};
  const sealed = { value_ct: Buffer.from(value_ct), cek_wrapped: Buffer.from(cek_wrapped), tmk_version };
  const bytes = await keyring().openValue(placeOf(ctx, id), sealed).catch(whenSealed);
  try {
    return JSON.parse(bytes.toString('utf8')) as StreamCredentials;
  } finally {
    bytes.fill(0);
  }
}

function whenSealed(error: unknown): never {
  if (!(error instanceof TenantKeyUnavailable)) throw error;
  throw new Refusal('tenant_sealed', "This workspace's key is sealed, so the stream's credentials can't be stored or used.", {
    cause: error,
  });
}
