import type { z } from 'zod';
import type { Db } from './database.ts';
import type { ErrorType } from './errors.ts';
import type { Kind, Method, Succeeds } from './operation.ts';

/** A person as the session plane knows them; no workspace is implied. */
export type Person = {
  id: string;
  email: string;
  email_verified_at: Date | null;
  full_name: string;
  timezone: string | null;
  date_format: string | null;
  locale: string | null;
  /** The id of the picture that is their photo. */
  avatar: string | null;
  /** As stored; `preferencesOf` reads it. */
  preferences: unknown;
  has_password: boolean;
  created_at: Date;
  updated_at: Date;
};

/** A live row of `sessions`. */
export type LiveSession = {
  id: string;
  user_id: string;
  csrf_token: string;
  auth_methods: string[];
  mfa_at: Date | null;
  keep: boolean;
  /** Set when the person asked for "this workspace only": every other workspace is refused. */
  scope_tenant_id: string | null;
  active_tenant_id: string | null;
  ip: string | null;
  user_agent: string | null;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
};

/** What a call of the session plane carries. `session` and `user` are both set or both null. */
export type PersonCtx = {
  db: Db;
  session: LiveSession | null;
  user: Person | null;
  request_id: string;
  ip: string | null;
  /** Another server passed the call on, so a loopback `ip` says nothing about where the person is. */
  relayed: boolean;
  user_agent: string | null;
  /** The Host header: the local mailbox answers on the dashboard's own address only. */
  host: string | null;
  /** The claim handle of a sign-up that was started in this browser. */
  signup_handle: string | null;
  /** The device cookie of this browser. */
  device: string | null;
  now: Date;
  /** Workspaces and spaces whose configuration changed, as `tenant_id:test`: the gateway refreshes before the answer is relayed. */
  changes: string[];
  /** What the answer does to the browser's cookies. */
  cookies: {
    session?: { token: string; expires_at: Date } | 'clear';
    signup?: { handle: string; expires_at: Date } | 'clear';
    device?: { token: string; expires_at: Date };
  };
};
export type SignedInCtx = PersonCtx & { session: LiveSession; user: Person };

/**
 * One thing a person can do without, or above, a workspace: sign in, look after the account, choose a workspace (interface rule 22 §4).
 * The session plane's sibling of `Operation`.
 */
export type PersonOperation<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
  S extends 'none' | 'required' = 'none' | 'required',
> = {
  id: string;
  summary: string;
  http: `${Method} /auth/${string}`;
  kind: Kind;
  session: S;
  /** Error types beyond invalid, csrf_failed, rate_limited and not_authenticated. */
  refuses: readonly ErrorType[];
  input: I;
  output: O;
  /** The body is no JSON but at most so many bytes, which `input` has as `bytes`. `admit` refuses before one of them is read. */
  takes?: { bytes: number; admit: (ctx: SignedInCtx) => Promise<unknown> };
  /** `output` is the answer itself, with its own headers, and no JSON. */
  raw?: true;
  /** Status of success; 200 when absent. */
  success?: Succeeds<z.output<O>>;
  run: (ctx: S extends 'required' ? SignedInCtx : PersonCtx, input: z.output<I>) => Promise<z.input<O>>;
};

/** What a row with `raw` hands back. */
export type RawAnswer = { headers: Record<string, string> & { etag: string }; body: Uint8Array };

/** Declares a row; inference keeps `run` honest against `session`, `input` and `output`. */
export const personOperation = <I extends z.ZodType, O extends z.ZodType, S extends 'none' | 'required'>(
  row: PersonOperation<I, O, S>,
): PersonOperation<I, O, S> => row;

// biome-ignore lint/suspicious/noExplicitAny: the table holds rows of every shape; each was checked where it was declared.
export type AnyPersonOperation = PersonOperation<any, any, any>;
