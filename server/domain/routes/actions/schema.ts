import { z } from 'zod';
import { label, pathId, time } from '#server/kernel/fields.ts';
import {
  CONTENT_TYPES,
  DIRECTIONS,
  FIELD_ACTION_NAMES,
  type FieldActionName,
  type FieldContentType,
  LOCATIONS,
  type Location,
  MASKS,
  MODES,
} from './rules.shared.ts';

/** `settings.ts` judges the grammar. */
const selector = () => z.string().min(1).max(256);

const settings = {
  selectors: z
    .array(selector())
    .min(1)
    .max(50)
    .meta({ examples: [['$.card.number']] }),
  key_name: label(128).nullable(),
  data_role: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/, 'must be 1 to 63 lowercase letters, digits, dots, hyphens or underscores')
    .nullable(),
  content_type: z.enum(CONTENT_TYPES).nullable(),
  mode: z.enum(MODES),
  mask: z.enum(MASKS).nullable(),
  signature_header: z.string().max(128).nullable(),
  signature_member: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters')
    .nullable(),
  sort_order: z.number().int().min(0).max(1_000_000),
  enabled: z.boolean(),
};
const what = { direction: z.enum(DIRECTIONS), action: z.enum(FIELD_ACTION_NAMES as [FieldActionName, ...FieldActionName[]]) };
const optional = z.object(settings).partial().shape;

export const FieldActionsOf = z.object({ id: pathId() });
export const FieldActionRef = z.object({ id: pathId(), actionId: pathId() });
export const CreateFieldAction = z.object({
  id: pathId(),
  ...what,
  location: z.enum(LOCATIONS).default('body'),
  ...optional,
  selectors: settings.selectors,
});
export const UpdateFieldAction = z
  .object({ id: pathId(), actionId: pathId(), ...optional, ...z.object(what).partial().shape, location: z.enum(LOCATIONS).optional() })
  .refine((v) => Object.keys(v).some((k) => k !== 'id' && k !== 'actionId' && v[k as keyof typeof v] !== undefined), {
    message: 'no valid fields',
    path: ['body'],
  })
  .meta({ minProperties: 1 });

export const FieldAction = z
  .object({
    id: z.uuid(),
    route_id: z.uuid(),
    tenant_id: z.uuid(),
    ...what,
    location: z.enum(LOCATIONS),
    selectors: z.array(z.string()),
    key_name: z.string().nullable(),
    data_role: z.string().nullable(),
    content_type: settings.content_type,
    mode: settings.mode,
    mask: settings.mask,
    signature_header: z.string().nullable(),
    signature_member: z.string().nullable(),
    sort_order: z.number().int(),
    enabled: z.boolean(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'FieldAction' });
export const DeletedFieldAction = z.object({ deleted: z.literal(true), id: z.uuid() }).meta({ id: 'DeletedFieldAction' });

/** An action as it is stored, without what identifies it. */
export type FieldActionSettings = {
  direction: (typeof DIRECTIONS)[number];
  action: FieldActionName;
  location: Location;
  selectors: string[];
  key_name: string | null;
  data_role: string | null;
  content_type: FieldContentType | null;
  mode: (typeof MODES)[number];
  mask: (typeof MASKS)[number] | null;
  signature_header: string | null;
  signature_member: string | null;
  sort_order: number;
  enabled: boolean;
};
