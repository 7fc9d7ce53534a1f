import { z } from 'zod';
import { CHANGELOG } from '#server/domain/changelog/entries.shared.ts';
import { uploadId } from '#server/domain/pictures/schema.ts';
import { label, pathId, secret, shownOnce, time } from '#server/kernel/fields.ts';
import { HOME_CARDS, PINS_AT_MOST, RAIL_GROUPS } from './places.shared.ts';

/** An address as a person types it; canonical (trimmed, NFC, lower case) afterwards. */
export const email = () =>
  z
    .string()
    .transform((text) => text.trim().normalize('NFC').toLowerCase())
    .pipe(z.email('must be an email address').max(254))
    .meta({ format: 'email', maxLength: 254 });

const password = () => secret(z.string().min(1).max(4096));
const keep = z.boolean().default(false);
/** "This workspace only": the slug a session is bound to. */
const scope = { keep, scope_tenant: z.string().max(60).optional() };

export const Login = z.object({ email: email(), password: password(), ...scope });
export const MagicStart = z.object({ email: email() });
export const MagicVerify = z
  .object({
    email: email().optional(),
    code: z.string().trim().max(20).optional(),
    token: secret(z.string().max(100)).optional(),
    password: password().optional(),
    ...scope,
  })
  .refine((v) => v.token !== undefined || (v.email !== undefined && v.code !== undefined), {
    message: 'requires email and code, or token',
    path: ['body'],
  });
export const ForgotPassword = z.object({ email: email() });
export const ResetPassword = z.object({ token: secret(z.string().max(100)), new: password() });
/** `password` is needed without a second factor. */
export const ChangeEmail = z.object({ email: email(), password: password().optional() });
export const EmailLink = z.object({ token: secret(z.string().max(100)) });
export const ChangePassword = z.object({ current: password(), new: password() });

const nullable = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

/** The id of a page. Only the dashboard knows which pages exist; it leaves out ids of others. */
const pageId = () => z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be the id of a page');

const withoutDuplicates = <T extends z.ZodType>(item: T) =>
  z.array(item).refine((list) => new Set(list).size === list.length, 'must not contain duplicates');

const preferences = {
  theme: z.enum(['system', 'light', 'dark', 'contrast']).nullable(),
  density: z.enum(['comfortable', 'compact']).nullable(),
  /** Shortcuts of a single key; with a modifier they always work (WCAG 2.2, success criterion 2.1.4). */
  single_keys: z.boolean(),
  /** The zone that pages show times in. */
  times: z.enum(['local', 'utc']),
  /** Where the dashboard opens; null: the workspace and the space last used. */
  home_workspace_id: z.uuid().nullable(),
  home_space: z.enum(['live', 'test']).nullable(),
  home_page: pageId(),
  /** Pages on top of the rail, in their order (interface rule 70 §3.2). */
  pins: withoutDuplicates(pageId().refine((id) => id !== 'home', 'Home is always on top of the rail')).max(
    PINS_AT_MOST,
    `must have at most ${PINS_AT_MOST} pages`,
  ),
  /** Groups of the rail that are folded, and the order of those that were moved; the others follow in ours. */
  rail_folded: withoutDuplicates(z.enum(RAIL_GROUPS)),
  rail_order: withoutDuplicates(z.enum(RAIL_GROUPS)),
  /** Cards of Home (interface rule 70 §4.1). */
  home_hidden: withoutDuplicates(z.enum(HOME_CARDS)),
  home_order: withoutDuplicates(z.enum(HOME_CARDS)),
  /** Whether Owners and Admins get the weekly summary of opportunities (interface rule 34 §5.6). */
  opportunity_mails: z.boolean(),
  /** The entry of the changelog that was the newest when the person last looked (interface rule 64 §9). */
  changelog_seen: z
    .string()
    .refine((id) => CHANGELOG.some((entry) => entry.id === id), 'unknown changelog entry')
    .nullable(),
};
/** How a person wants the dashboard, in every workspace and browser (interface rule 70 §13). Null theme and density: as the browser has it. */
export const Preferences = z.object(preferences);
export type Preferences = z.output<typeof Preferences>;
const NO_PREFERENCES: Preferences = {
  theme: null,
  density: null,
  single_keys: true,
  times: 'local',
  home_workspace_id: null,
  home_space: null,
  home_page: 'home',
  pins: [],
  rail_folded: [],
  rail_order: [],
  home_hidden: [],
  home_order: [],
  opportunity_mails: true,
  changelog_seen: null,
};

/** What is stored, member by member and name by name: what this release does not know falls back and takes nothing else with it. */
export function preferencesOf(stored: unknown): Preferences {
  const given = typeof stored === 'object' && stored !== null ? (stored as Record<string, unknown>) : {};
  const known = Object.entries(preferences).flatMap(([name, schema]) => {
    const value = given[name];
    const read = schema.safeParse(Array.isArray(value) ? value.filter((one) => schema.safeParse([one]).success) : value);
    return read.success ? [[name, read.data]] : [];
  });
  return { ...NO_PREFERENCES, ...Object.fromEntries(known) };
}

export const UpdateMe = z.object({
  full_name: label(120).optional(),
  timezone: nullable(z.string().max(64).refine(isTimezone, 'must be an IANA time zone such as Europe/Berlin')),
  date_format: nullable(z.enum(['iso', 'dmy', 'mdy'])),
  locale: nullable(z.string().max(35).refine(isLocale, 'must be a language tag such as en-GB')),
  /** Only what is named changes. */
  preferences: z.strictObject(preferences).partial().optional(),
  /** The version of the person this edit started from; another one refuses the edit (interface rule 70 §3.5). */
  expected_updated_at: z.iso.datetime({ offset: true }).optional(),
  /** What POST /auth/avatars answered; null takes the photo down. */
  avatar_upload_id: uploadId(),
  // Judged only after role and factor, so any shape may come in here.
  country: z.unknown().optional(),
  address: z.unknown().optional(),
  city: z.unknown().optional(),
  postal_code: z.unknown().optional(),
  tax_id_type: z.unknown().optional(),
  tax_id_value: z.unknown().optional(),
});
export type UpdateMeInput = z.output<typeof UpdateMe>;

/** What was ended: sessions, and logins of applications. */
export const Ended = z.object({ sessions: z.number(), apps: z.number() });

export const SessionRef = z.object({ id: pathId() });
export const SelectWorkspace = z.object({ tenant_id: z.string().max(100) });
export const Nothing = z.object({});

export const WorkspaceView = z.object({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  region: z.string(),
  /** Served at /auth/avatars/{id}. */
  logo: z.uuid().nullable(),
  role: z.string(),
  plan: z.string(),
  status: z.string(),
  reveal_secrets: z.boolean(),
});

export const PersonView = z.object({
  id: z.uuid(),
  email: z.string(),
  email_verified_at: time().nullable(),
  full_name: z.string(),
  timezone: z.string().nullable(),
  date_format: z.string().nullable(),
  locale: z.string().nullable(),
  /** Served at /auth/avatars/{id}. */
  avatar: z.uuid().nullable(),
  preferences: z.unknown().transform(preferencesOf).pipe(Preferences),
  has_password: z.boolean(),
  created_at: time(),
  updated_at: time(),
});

export const MFA_METHODS = ['passkey', '2fa', 'recovery'] as const;
const SecondFactorOwed = z.object({
  status: z.literal('mfa_required'),
  /** For POST /auth/login/mfa; browsers have it as a cookie too. */
  mfa_token: shownOnce(z.string()),
  expires_at: time(),
  methods: z.array(z.enum(MFA_METHODS)),
  redirect_to: z.string(),
});
/** A passkey or security key as its owner sees it. */
export const PasskeyView = z.object({
  id: z.uuid(),
  /** passkey or security_key */
  kind: z.string(),
  name: z.string(),
  /** Synchronised by its provider, so it is on other devices too. */
  backed_up: z.boolean(),
  created_at: time(),
  last_used_at: time().nullable(),
  /** When it was refused as a copy: its counter went back. It opens nothing any more. */
  cloned_at: time().nullable(),
});

export const SignedInView = z.object({
  status: z.literal('ok'),
  token: shownOnce(z.string()),
  user: PersonView,
  workspaces: z.array(WorkspaceView),
  /** Where a browser goes next. */
  redirect_to: z.string(),
});

/** The answer of every way to prove the first factor. */
export const SignInAnswer = z.discriminatedUnion('status', [SignedInView, SecondFactorOwed]);

export const Me = z.object({
  user: PersonView,
  factors: z.object({
    totp: z.boolean(),
    totp_enabled_at: time().nullable(),
    passkeys: z.array(PasskeyView),
    recovery_codes_left: z.number(),
  }),
  csrf_token: z.string(),
  session: z.object({
    id: z.uuid(),
    auth_methods: z.array(z.string()),
    created_at: time(),
    expires_at: time(),
    mfa_at: time().nullable(),
    scope_tenant_id: z.uuid().nullable(),
  }),
  active_workspace: WorkspaceView.nullable(),
  workspaces: z.array(WorkspaceView),
  company: z
    .object({
      tenant_id: z.uuid(),
      country: z.string().nullable(),
      address: z.string().nullable(),
      city: z.string().nullable(),
      postal_code: z.string().nullable(),
      tax_id_type: z.string().nullable(),
      tax_id_value: z.string().nullable(),
    })
    .nullable(),
});

export const SessionList = z.object({
  sessions: z.array(
    z.object({
      id: z.uuid(),
      current: z.boolean(),
      auth_methods: z.array(z.string()),
      ip: z.string().nullable(),
      /** of the address; null when it is not known */
      ip_country: z.string().nullable(),
      user_agent: z.string().nullable(),
      created_at: time(),
      last_seen_at: time(),
      expires_at: time(),
      scope_tenant_id: z.uuid().nullable(),
    }),
  ),
});

function isTimezone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
