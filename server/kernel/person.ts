import type { StepUp, StepUpDigest } from './action-scopes.ts';
import type { Db } from './tx.ts';

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
  /** The sign-in that this browser began and that lacks the second factor. */
  mfa_token?: string | null;
  /** What ties a sign-in at an identity provider to this browser. */
  sso_browser?: string | null;
  /** Set for a call that the person must confirm; the verb uses the verification up by `takeStepUp`. */
  step_up?: StepUp;
  /** SHA-256 of X-Svc-StepUp. */
  step_up_digest?: StepUpDigest | null;
  now: Date;
  /** Workspaces and spaces whose configuration changed, as `tenant_id:test`: the gateway refreshes before the answer is relayed. */
  changes: string[];
  /** What the answer does to the browser's cookies. */
  cookies: {
    session?: { token: string; expires_at: Date } | 'clear';
    signup?: { handle: string; expires_at: Date } | 'clear';
    mfa?: { token: string; expires_at: Date } | 'clear';
    device?: { token: string; expires_at: Date };
    sso?: string;
  };
};
export type SignedInCtx = PersonCtx & { session: LiveSession; user: Person };
