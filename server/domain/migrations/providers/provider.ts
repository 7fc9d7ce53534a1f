/** One secret of a store, as a list of it says; the value is not known yet. */
export type SourceEntry = {
  /** Names it within the store: ARN, resource name, URL, path or file key. */
  ref: string;
  name: string;
  /** Null when only the value says. */
  version: string | null;
  region: string;
  updated_at: Date | null;
  tags: Readonly<Record<string, string>>;
};

/** A current value. `bytes` are the caller's to wipe. */
export type SourceValue = { version: string; bytes: Buffer; binary: boolean };

/** Where a list goes on; JSON that only its provider understands. */
export type Cursor = Readonly<Record<string, unknown>>;
export type SourcePage = { entries: readonly SourceEntry[]; next: Cursor | null };

/** A store that is read page by page. Every call may be the last before the process dies, so none of them keeps what the next one needs. */
export type Provider = {
  /** Lists one page and reads no value. @throws ProviderFault */
  probe(signal?: AbortSignal): Promise<void>;
  /** @throws ProviderFault */
  list(cursor: Cursor | null, signal: AbortSignal): Promise<SourcePage>;
  /** The current value. @throws ProviderFault, TooLarge */
  readValue(entry: SourceEntry, signal: AbortSignal): Promise<SourceValue>;
  close(): Promise<void>;
};

export type FaultReason = 'access_denied' | 'not_found' | 'unreachable' | 'misconfigured' | 'throttled';

/** Why a store gave nothing. Its message is ours: texts of a store may repeat what was sent. */
export class ProviderFault extends Error {
  readonly reason: FaultReason;
  readonly provider_request_id: string | undefined;
  constructor(reason: FaultReason, message: string, options: { cause?: unknown; requestId?: string | undefined } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ProviderFault';
    this.reason = reason;
    this.provider_request_id = options.requestId;
  }
}

/** A value larger than a secret can be. */
export class TooLarge extends Error {}

/** Bytes of one value (interface rule 35 §13). */
export const VALUE_BYTES = 65_536;

/** Whether another try may help. */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof ProviderFault) || error.reason === 'unreachable' || error.reason === 'throttled';
