import { DecryptFailed } from '#server/crypto/transit/decrypt-failed.ts';
import { signingOptions, sign as signWith } from '#server/crypto/transit/signatures.ts';
import { findKey, type UsableKey } from '#server/custody/keys.ts';
import { material } from '#server/custody/material.ts';
import { isMarkedPortable, type Opened, openValue, type Sealer, seal, sealerOf } from '#server/custody/portable.ts';
import { auditFirst, recordUse } from '#server/custody/uses.ts';
import { lookUp, type Openable, open, withinMonth } from '#server/custody/vaults/detokenize.ts';
import { tokenize } from '#server/custody/vaults/tokenize.ts';
import { findVault, type UsableVault } from '#server/custody/vaults/vaults.ts';
import { masked } from '#server/domain/routes/actions/rules.shared.ts';
import type { AuditEntry } from '#server/kernel/audit-entry.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { keyTypeCan } from '#server/kernel/key-types.ts';
import { nextSlice, SLICE_MS } from '#server/kernel/slices.ts';
import { log } from '#server/platform/log.ts';
import type { FieldAction } from '../../snapshot/field-actions.ts';
import { FieldActionFailed, failure } from './failure.ts';
import { bytesValue, type FieldValue, jsonKindOf } from './values.ts';

/** Which value of a list it is, for messages. */
type At = (index: number) => string;
/** By value: what stands in its place, or undefined for one that stays as it is. */
type Results = (FieldValue | undefined)[];

export type WorkOptions = {
  ctx: HotCtx;
  /** For audit entries. */
  route: { id: string; name: string };
  /** The host that revealed values of a request go to; null for values that go to the caller. */
  host: string | null;
  /** Whether hosts that a vault is pinned to have this one among them. */
  mayReach: (hosts: readonly string[]) => boolean;
  /** A test that isn't sent: nothing is stored for it. */
  dry: boolean;
  /** Told of every value that was revealed, for redaction. */
  onRevealed: (at: string, text: string) => void;
  /** Notes in the log that an action that may do so has left a value alone. */
  onWarning: (warning: string) => void;
};

/** A value longer than this is not processed (interface rule 41 §8). */
const LONGEST = 64 * 1024;
const AT_ONCE = 50;

/**
 * The work of a call's field actions with keys and vaults. Clear values leave only after their audit entry is written: one for each call and action,
 * however many lines a body has.
 */
export class FieldWork {
  readonly #options: WorkOptions;
  readonly #audited = new Map<string, Promise<void>>();
  #since = performance.now();

  constructor(options: WorkOptions) {
    this.#options = options;
  }

  warn(action: FieldAction, why: string): void {
    this.#options.onWarning(`field_action:${action.name}:${why}`);
  }

  /** @throws FieldActionFailed where the action is strict */
  async perform(action: FieldAction, values: readonly FieldValue[], at: At): Promise<Results> {
    try {
      switch (action.name) {
        case 'mask':
          return values.map((value) => maskedValue(value, action));
        case 'encrypt':
          return await this.#encrypt(action, values, at);
        case 'decrypt':
          return await this.#decrypt(action, values, at);
        case 'tokenize':
          return await this.#tokenize(action, values, at);
        case 'detokenize':
          return await this.#detokenize(action, values, at);
        case 'sign':
          return [];
      }
    } catch (error) {
      return this.#failed(action, error, []);
    }
  }

  /** Undefined when the action may leave the message unsigned. @throws FieldActionFailed */
  async sign(action: FieldAction, data: Buffer, at: string): Promise<string | undefined> {
    try {
      const key = await this.#key(action, 'sign');
      const version = key.current_version;
      const options = signingOptions(key.key_type);
      const signature = await signWith(await material(key, version), version, data, options);
      recordUse(this.#options.ctx, this.#entry('execute', key, { operation: 'sign', key_version: version, hash: options.hash }));
      return signature;
    } catch (error) {
      return this.#failed(action, error, undefined, at);
    }
  }

  async #encrypt(action: FieldAction, values: readonly FieldValue[], at: At): Promise<Results> {
    // What is sealed already isn't sealed twice.
    const open = values.map((value) => !(value.kind === 'string' && isMarkedPortable(value.text)));
    if (!open.includes(true)) return [];
    const sealer = await this.#sealer(action);
    const results: Results = [];
    for (const [i, { kind, text }] of values.entries()) {
      if (!open[i]) continue;
      const bytes = Buffer.from(text);
      if (bytes.length > LONGEST) this.#refuse(action, at(i), 'it is longer than 64 KiB', 'too_long');
      else results[i] = { kind: 'string', text: seal(sealer, { role: action.role, datatype: DATATYPES[kind], bytes }) };
      bytes.fill(0);
      await this.breathe();
    }
    const { key, version } = sealer;
    recordUse(
      this.#options.ctx,
      this.#entry('execute', key, { operation: 'encrypt', key_version: version, items: results.filter(Boolean).length }),
    );
    return results;
  }

  async #decrypt(action: FieldAction, values: readonly FieldValue[], at: At): Promise<Results> {
    const sealed = values.map(({ kind, text }) => kind === 'string' && isMarkedPortable(text));
    if (!sealed.includes(true)) return [];
    const { ctx } = this.#options;
    const key = await this.#key(action, 'seal');
    const admit = async (other: UsableKey) => {
      if (other.id !== key.id) throw new DecryptFailed();
    };
    const results: Results = [];
    const versions = new Set<number>();
    const one = async (i: number, text: string) => {
      try {
        const opened = await openValue(ctx, text, { role: action.role, admit });
        const value = openedValue(opened);
        opened.bytes.fill(0);
        versions.add(opened.version);
        this.#options.onRevealed(at(i), value.text);
        results[i] = value;
      } catch (error) {
        this.#failed(action, error, undefined, at(i));
      }
    };
    const wanted = values.flatMap(({ text }, i) => (sealed[i] ? [{ i, text }] : []));
    for (let from = 0; from < wanted.length; from += AT_ONCE) {
      // Together they ask for their key once.
      await Promise.all(wanted.slice(from, from + AT_ONCE).map(({ i, text }) => one(i, text)));
      await this.breathe();
    }
    const leaves = results.filter(Boolean).length;
    if (leaves > 0)
      await this.#auditOnce(action, () =>
        this.#entry('transit.decrypt', key, { leaves, key_versions: [...versions], role: action.role ?? null }),
      );
    return results;
  }

  async #tokenize(action: FieldAction, values: readonly FieldValue[], at: At): Promise<Results> {
    const taken: number[] = [];
    for (const [i, { kind, text }] of values.entries()) {
      if (kind === 'null' || text === '') continue;
      if (kind === 'boolean') this.#refuse(action, at(i), 'only strings and numbers can be tokenized', 'unfit');
      else taken.push(i);
    }
    if (taken.length === 0) return [];
    const vault = await this.#vault(action);
    const results: Results = [];
    if (this.#options.dry) {
      for (const i of taken) results[i] = { kind: 'string', text: '[token]' };
      return results;
    }
    const { ctx, route } = this.#options;
    const issue = async (some: readonly number[]) => {
      const items = some.map((i) => ({ value: values[i]?.text ?? '' }));
      const issued = await tokenize(ctx, vault, items, {
        naming: (nth) => at(some[nth] ?? 0),
        via: { via: 'route', route_id: route.id, route: route.name },
      });
      for (const [nth, { token }] of issued.entries()) results[some[nth] as number] = { kind: 'string', text: token };
    };
    if (action.strict) await issue(taken);
    // Together they are stored or not; here each may stay as it is.
    else for (const i of taken) await issue([i]).catch((error: unknown) => this.#failed(action, error, undefined));
    return results;
  }

  async #detokenize(action: FieldAction, values: readonly FieldValue[], at: At): Promise<Results> {
    const { ctx, route, host } = this.#options;
    const vault = await this.#vault(action);
    if (host !== null && vault.allowed_hosts !== null && !this.#options.mayReach(vault.allowed_hosts))
      throw new Unusable(`values of the vault ${vault.name} must not be sent to ${host}`);
    const found: { i: number; token: Openable }[] = [];
    for (const [i, { kind, text }] of values.entries()) {
      if ((kind !== 'string' && kind !== 'number') || text === '' || text.length > LONGEST) continue;
      try {
        found.push({ i, token: await lookUp(ctx, vault, text) });
      } catch (error) {
        // Whatever isn't a token of this vault is none of its business.
        if (!(error instanceof Refusal) || (error.type !== 'not_found' && error.type !== 'validation_error'))
          this.#failed(action, error, undefined, at(i));
      }
    }
    if (found.length === 0) return [];
    await withinMonth(ctx, found.length);
    await this.#auditOnce(action, () => ({
      action: 'vault.detokenize',
      resource_type: 'vault_token',
      resource_id: found.length === 1 ? (found[0]?.token.row?.id ?? null) : null,
      details: {
        vault: vault.name,
        vault_id: vault.id,
        count: found.length,
        token_ids: found.slice(0, 50).flatMap(({ token }) => token.row?.id ?? []),
        via: 'route',
        route_id: route.id,
        route: route.name,
        ...(host === null ? {} : { host }),
      },
    }));
    const results: Results = [];
    for (const { i, token } of found) {
      try {
        const { value } = await open(ctx, token);
        this.#options.onRevealed(at(i), value);
        results[i] = { kind: 'string', text: value };
      } catch (error) {
        this.#failed(action, error, undefined, at(i));
      }
      await this.breathe();
    }
    return results;
  }

  async #vault(action: FieldAction): Promise<UsableVault> {
    const vault = await findVault(this.#options.ctx, action.material);
    if (!vault) throw new Unusable(`the vault ${action.material} doesn't exist`);
    if (!vault.enabled) throw new Unusable(`the vault ${vault.name} is disabled`);
    return vault;
  }

  async #sealer(action: FieldAction): Promise<Sealer> {
    const key = await this.#key(action, 'seal');
    return sealerOf(this.#options.ctx, key.name);
  }

  async #key(action: FieldAction, use: 'seal' | 'sign'): Promise<UsableKey> {
    const key = await findKey(this.#options.ctx, action.material);
    if (!key || key.managed_by === 'vault' || !keyTypeCan(key.key_type, use))
      throw new Unusable(`the key ${action.material} doesn't exist or can't be used for it`);
    return key;
  }

  #entry(action: string, key: Pick<UsableKey, 'id' | 'name'>, details: Record<string, unknown>): AuditEntry {
    const { route } = this.#options;
    return {
      action,
      resource_type: 'crypto_key',
      resource_id: key.id,
      name: key.name,
      details: { ...details, route_id: route.id, route: route.name },
    };
  }

  /** Resolves when it is written. In a body of many lines the first that reveals something writes it for all. */
  #auditOnce(action: FieldAction, entry: () => AuditEntry): Promise<void> {
    let written = this.#audited.get(action.id);
    if (!written) {
      written = auditFirst(this.#options.ctx, [entry()]);
      this.#audited.set(action.id, written);
    }
    return written;
  }

  #refuse(action: FieldAction, at: string, why: string, code: string): void {
    if (action.strict) throw failure(action, at, why);
    this.warn(action, code);
  }

  /** Why it failed, in words that hold nothing of a value; where the action may, the value stays as it is. */
  #failed<T>(action: FieldAction, error: unknown, otherwise: T, at = ''): T {
    if (error instanceof FieldActionFailed) throw error;
    if (!action.strict) {
      this.warn(action, error instanceof Refusal ? error.type : 'failed');
      return otherwise;
    }
    if (error instanceof Unusable) throw failure(action, at, error.message);
    if (error instanceof DecryptFailed) throw failure(action, at, "the value can't be opened with this key and role");
    const refusal = asRefusal(error);
    if (refusal.type === 'internal_error') log.error({ err: error, request_id: this.#options.ctx.request_id }, 'a field action failed');
    const why = REASONS[refusal.type] ?? 'of an internal error';
    const unavailable =
      refusal.type === 'tenant_sealed'
        ? 'tenant_sealed'
        : refusal.type === 'dependency_unavailable' || refusal.type === 'audit_unavailable'
          ? 'dependency_unavailable'
          : undefined;
    throw new FieldActionFailed(failure(action, at, why).message, { unavailable, cause: error });
  }

  /** Lets others go first after a slice of work. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await nextSlice();
    this.#since = performance.now();
  }
}

/** The key or vault of the action isn't there, or isn't what it was when the action was saved. */
class Unusable extends Error {
  override readonly name = 'Unusable';
}

const REASONS: Partial<Record<string, string>> = {
  validation_error: 'the value is not of the form that it must have',
  decrypt_failed: "the value can't be opened with this key and role",
  key_version_destroyed: 'the version of the key was destroyed',
  key_version_disabled: 'the version of the key is disabled',
  tenant_sealed: "this workspace's encryption key is unavailable",
  audit_unavailable: "the audit log can't be written",
  dependency_unavailable: 'the database is unavailable',
  vault_disabled: 'the vault is disabled',
  token_expired: 'the token has expired',
  plan_limit: 'the plan allows no more tokens',
  token_space_exhausted: 'the vault has no token left for this value',
  not_found: 'the vault was deleted',
};

const DATATYPES = { string: 's', number: 'n', boolean: 'b', null: 'j', object: 'j', array: 'j' } as const;

/** @throws DecryptFailed when a hostile sealer put something else in than it says */
function openedValue({ datatype, bytes }: Pick<Opened, 'datatype' | 'bytes'>): FieldValue {
  if (datatype === 'x') return bytesValue(bytes);
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) throw new DecryptFailed();
  if (datatype === 's') return { kind: 'string', text };
  const kind = jsonKindOf(text);
  if (kind === undefined || (datatype === 'n' && kind !== 'number') || (datatype === 'b' && kind !== 'boolean')) throw new DecryptFailed();
  return { kind, text };
}

/** Neither nothing nor an absent value is worth hiding. */
function maskedValue({ kind, text }: FieldValue, { mask }: FieldAction): FieldValue | undefined {
  return kind === 'null' || text === '' ? undefined : { kind: 'string', text: masked(text, mask) };
}
