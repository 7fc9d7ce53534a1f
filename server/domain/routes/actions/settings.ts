import { SelectorRefused, stepsOf } from '#server/custody/fields/selectors.ts';
import { headerNameProblem as injectedNameProblem } from '../config/schema.ts';
import { FIELD_ACTIONS, MASKS } from './rules.shared.ts';
import type { FieldActionSettings } from './schema.ts';

/** What frames or types a body is never a value of its own. */
const headerNameProblem = (name: string): string | undefined =>
  /^content-/i.test(name) ? 'describes the body' : injectedNameProblem(name)?.replace("can't be injected", "can't be used here");

/** The first setting that doesn't go with the others, as `[field, problem]`. A setting where it has no meaning is refused, never ignored. */
export function settingsProblem(one: FieldActionSettings): [field: string, problem: string] | undefined {
  for (const [i, text] of one.selectors.entries()) {
    const problem = selectorProblem(text);
    if (problem) return [`selectors.${i}`, problem];
  }
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

function selectorProblem(text: string): string | undefined {
  try {
    stepsOf(text);
    return undefined;
  } catch (error) {
    if (error instanceof SelectorRefused) return error.message;
    throw error;
  }
}
