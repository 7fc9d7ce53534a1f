import { z } from 'zod';
import { MAX_SELECTORS, SelectorRefused, stepsOf } from '#server/custody/fields/selectors.ts';
import { pathId, time } from '#server/kernel/fields.ts';
import { headerNameProblem as injectedNameProblem } from '../config/schema.ts';
import {
  CONTENT_TYPES,
  DIRECTIONS,
  FIELD_ACTION_NAMES,
  FIELD_ACTIONS,
  type FieldActionName,
  type FieldContentType,
  LOCATIONS,
  type Location,
  MASKS,
  MODES,
} from './rules.shared.ts';

const selector = () =>
  z
    .string()
    .min(1)
    .max(256)
    .superRefine((text, ctx) => {
      const problem = selectorProblem(text);
      if (problem) ctx.addIssue({ code: 'custom', message: problem });
    });

/** What is wrong with a selector, or undefined. */
export function selectorProblem(text: string): string | undefined {
  try {
    stepsOf(text);
    return undefined;
  } catch (error) {
    if (error instanceof SelectorRefused) return error.message;
    throw error;
  }
}

const settings = {
  selectors: z
    .array(selector())
    .min(1)
    .max(MAX_SELECTORS)
    .meta({ examples: [['$.card.number']] }),
  key_name: z.string().trim().min(1).max(128).nullable(),
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

/** What frames or types a body is never a value of its own. */
const headerNameProblem = (name: string): string | undefined =>
  /^content-/i.test(name) ? 'describes the body' : injectedNameProblem(name)?.replace("can't be injected", "can't be used here");

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

/** The first setting that doesn't go with the others, as `[field, problem]`. A setting where it has no meaning is refused, never ignored. */
export function settingsProblem(one: FieldActionSettings): [field: string, problem: string] | undefined {
  const { takes } = FIELD_ACTIONS[one.action];
  if (one.location === 'query' && one.direction === 'response') return ['location', 'responses have no query'];
  if (takes !== null && one.key_name === null)
    return ['key_name', takes === 'vault' ? `is required: the vault to ${one.action} with` : `is required: the key to ${one.action} with`];
  if (takes === null && one.key_name !== null) return ['key_name', `must not be sent for ${one.action}`];
  if (one.data_role !== null && one.action !== 'encrypt' && one.action !== 'decrypt')
    return ['data_role', `must not be sent for ${one.action}`];
  if (one.location === 'body' && one.content_type === null) return ['content_type', 'is required for bodies'];
  if (one.location !== 'body' && one.content_type !== null) return ['content_type', `must not be sent for the location ${one.location}`];
  if (one.action === 'mask' && one.mask === null) return ['mask', `is required: ${MASKS.join(', ')}`];
  if (one.action !== 'mask' && one.mask !== null) return ['mask', `must not be sent for ${one.action}`];
  return signatureProblem(one) ?? selectorsProblem(one);
}

function signatureProblem(one: FieldActionSettings): [string, string] | undefined {
  const { action, signature_header: header, signature_member: member } = one;
  if (action !== 'sign') {
    if (header !== null) return ['signature_header', `must not be sent for ${action}`];
    return member === null ? undefined : ['signature_member', `must not be sent for ${action}`];
  }
  if (one.location !== 'body') return ['location', 'only values of bodies can be signed'];
  if ((header === null) === (member === null)) return ['signature_header', 'send either signature_header or signature_member'];
  if (header !== null) {
    const problem = headerNameProblem(header);
    if (problem) return ['signature_header', problem];
    // A head leaves before the lines of its body are known.
    if (one.content_type === 'application/x-ndjson') return ['signature_header', "can't be used for streamed lines; use signature_member"];
  }
  if (one.selectors.length > 1) return ['selectors', 'must have exactly one entry for sign'];
  const steps = stepsOf(one.selectors[0] ?? '$');
  if (steps.length === 0 && member !== null)
    return ['signature_member', "can't be used when the whole body is signed; use signature_header"];
  if (steps.some(({ to }) => to === 'every' || to === 'descendant')) return ['selectors', 'must name a single value for sign'];
  return undefined;
}

/** Headers, queries and forms are flat: a selector names one field, or all. */
function selectorsProblem({ location, content_type, selectors }: FieldActionSettings): [string, string] | undefined {
  if (location === 'body' && content_type !== 'application/x-www-form-urlencoded') return undefined;
  for (const [i, text] of selectors.entries()) {
    const steps = stepsOf(text);
    const [first] = steps;
    const of = location === 'body' ? 'a form' : location === 'header' ? 'headers' : 'a query';
    if (steps.length > 1 || first?.to === 'element')
      return [`selectors.${i}`, `must have one name, such as $.card_number: ${of} can't be nested`];
    if (location !== 'header') continue;
    if (first?.to !== 'member') return [`selectors.${i}`, 'must name one header, such as $.X-Card-Number'];
    const problem = headerNameProblem(first.of);
    if (problem) return [`selectors.${i}`, problem];
  }
  return undefined;
}
