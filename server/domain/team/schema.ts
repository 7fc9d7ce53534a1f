import { z } from 'zod';
import { email } from '#server/domain/people/schema.ts';
import { atLeastOne, flag, label, pathId, secret, time } from '#server/kernel/fields.ts';
import { listQuery } from '#server/kernel/page.ts';
import { MEMBER_ROLES } from '#server/kernel/role-matrix.ts';

const role = () => z.enum(MEMBER_ROLES);

/** A person in the workspace; `id` is the person's. */
export const Member = z.object({
  id: z.uuid(),
  email: z.string(),
  full_name: z.string(),
  /** Served at /auth/avatars/{id}. */
  avatar: z.uuid().nullable(),
  role: role(),
  reveal_secrets: z.boolean(),
  migration_reviewer: z.boolean(),
  /** How they joined: signup, invite, sso or scim. */
  source: z.string(),
  /** The name of whoever invited them. */
  added_by: z.string().nullable(),
  joined_at: time(),
  /** Their last call in this workspace. */
  last_active_at: time().nullable(),
  /** Whether they have a second factor; null for callers below Admin. */
  second_factor: z.boolean().nullable(),
});

export const ListMembers = listQuery({
  sorts: ['name', 'role', 'joined_at', 'last_active_at'],
  sort: 'name',
  order: 'asc',
  filters: { q: z.string().trim().max(100).optional(), role: role().optional() },
});
export const MemberRef = z.object({ id: pathId() });

export const UpdateMember = atLeastOne(
  z.object({
    id: pathId(),
    role: role().optional(),
    reveal_secrets: z.boolean().optional(),
    migration_reviewer: z.boolean().optional(),
  }),
);

/** `revoke`: what to end of what the person made: everything, or kinds of it. `revoke_api_keys` is short for the kind `api_key`. */
export const RemoveMember = z.object({
  id: pathId(),
  revoke: z.union([z.literal(true), z.array(z.string().max(40)).max(50)]).optional(),
  revoke_api_keys: flag().default(false),
});

/** What a person made that acts by itself, or whose secret they have seen. */
const Made = z.object({
  /** What `revoke` names. */
  kind: z.string(),
  /** What people call one of its kind. */
  label: z.string(),
  id: z.uuid(),
  name: z.string(),
  space: z.enum(['live', 'test']),
  /** The key, OAuth client or SCIM credential of theirs that made it; null when they made it themselves. */
  through: z.string().nullable(),
  /** What `revoke` does to it; null for what is only listed. */
  ends: z.enum(['revoke', 'disable']).nullable(),
  /** Whether the caller may end it: somebody who leaves ends no more than their role may end. */
  may_end: z.boolean(),
  last_used_at: time().nullable(),
});

/** What ends when the person leaves, and what stays for somebody to review. */
export const MemberImpact = z.object({
  /** Sessions that are cut off from the workspace. */
  sessions: z.int(),
  /** Applications that are logged in in their name. */
  apps: z.int(),
  made: z.array(Made),
});

export const Removed = z.object({
  deleted: z.literal(true),
  /** What ended with the membership, by kind. */
  ended: z.record(z.string(), z.int()),
  /** What they made, for review; `revoked` tells whether this call ended it. */
  made: z.array(Made.extend({ revoked: z.boolean() })),
});

export const EndedSessions = z.object({ deleted: z.literal(true), revoked: z.int(), apps: z.int() });

export const Invitation = z.object({
  id: z.uuid(),
  email: z.string(),
  role: role(),
  reveal_secrets: z.boolean(),
  /** The address of whoever invited them. */
  invited_by: z.string(),
  created_at: time(),
  /** When the newest mail was sent. */
  sent_at: time(),
  expires_at: time(),
  expired: z.boolean(),
});

/** Nobody is invited as Owner: ownership is granted to a member. */
export const Invite = z.object({
  email: email(),
  role: z.enum(['admin', 'editor', 'viewer', 'member']),
  reveal_secrets: z.boolean().default(false),
});
export const InvitationRef = z.object({ id: pathId() });

const token = () => secret(z.string().max(100));
export const InvitationToken = z.object({ token: token() });

/** What an invited person sees before they join. */
export const InvitationView = z.object({
  state: z.enum(['open', 'expired', 'used', 'withdrawn']),
  email: z.string(),
  workspace: z.object({ name: z.string(), slug: z.string() }),
  role: role(),
  invited_by: z.string(),
  expires_at: time(),
  /** Whether the address has an account already; without one, joining creates it. */
  has_account: z.boolean(),
});

export const InvitationSignUp = z.object({
  token: token(),
  full_name: label(120),
  /** Without one, the person signs in with a mailed code. */
  password: secret(z.string().min(1).max(4096)).optional(),
});
