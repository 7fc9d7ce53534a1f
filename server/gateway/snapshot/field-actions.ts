import { type Compiled, compileSelectors, stepsOf } from '#server/custody/fields/selectors.ts';
import {
  type Direction,
  FIELD_ACTIONS,
  type FieldActionName,
  type FieldContentType,
  type Location,
  type Mask,
  type Mode,
} from '#server/domain/routes/actions/rules.shared.ts';
import { hyphenated } from '#server/platform/header-name.ts';

export type FieldActionRow = {
  id: string;
  route_id: string;
  direction: Direction;
  action: FieldActionName;
  location: Location;
  selectors: string[];
  key_name: string | null;
  data_role: string | null;
  content_type: FieldContentType | null;
  mode: Mode;
  mask: Mask | null;
  signature_header: string | null;
  signature_member: string | null;
};

/** A field action ready to run. */
export type FieldAction = {
  readonly id: string;
  readonly name: FieldActionName;
  readonly effect: (typeof FIELD_ACTIONS)[FieldActionName]['effect'];
  /** Of the crypto key or the vault. */
  readonly material: string;
  readonly role: string | undefined;
  readonly strict: boolean;
  readonly mask: Mask;
  readonly selectors: Compiled;
  /** A picked object or array is one value, not all the values in it. */
  readonly whole: boolean;
  /** The whole body is picked, byte for byte (sign). */
  readonly everything: boolean;
  readonly signatureHeader: string | null;
  readonly signatureMember: string | null;
};

/** What happens to messages of one direction. Lists are in the order in which their actions run. */
export type FieldSide = {
  /** By media type. */
  readonly body: ReadonlyMap<string, readonly FieldAction[]>;
  /** The first protective action on bodies that makes a call fail rather than let a body of another type pass; null when none does. */
  readonly guard: FieldAction | null;
  /** Whether an action on bodies protects values: bodies are then kept for the log only after they ran. */
  readonly protectsBody: boolean;
  readonly headers: readonly FieldAction[];
  /** Names that actions on headers pick or signatures are written to, in lower case and hyphenated. */
  readonly headerNames: ReadonlySet<string>;
  readonly query: readonly FieldAction[];
};

export type FieldActions = { readonly request: FieldSide | null; readonly response: FieldSide | null };

/** Null for a route without enabled field actions. Rows are in the order in which they run. */
export function compileFieldActions(rows: readonly FieldActionRow[]): FieldActions | null {
  if (rows.length === 0) return null;
  const side = (direction: Direction) => {
    const own = rows.filter((row) => row.direction === direction);
    return own.length === 0 ? null : compileSide(own);
  };
  return { request: side('request'), response: side('response') };
}

function compileSide(rows: readonly FieldActionRow[]): FieldSide {
  const at = (location: Location) => rows.filter((row) => row.location === location).map(compileAction);
  const byType = Map.groupBy(
    rows.filter(({ location }) => location === 'body'),
    (row) => row.content_type ?? 'application/json',
  );
  const bodies = at('body');
  return {
    body: new Map([...byType].map(([type, own]) => [type, own.map(compileAction)])),
    guard: bodies.find((action) => action.strict && action.effect !== 'reveals') ?? null,
    protectsBody: bodies.some((action) => action.effect === 'protects'),
    headers: at('header'),
    headerNames: new Set(rows.flatMap(headerNamesOf)),
    query: at('query'),
  };
}

function compileAction(row: FieldActionRow): FieldAction {
  // Header names are compared as they are sent: in any case, with `_` for `-`.
  const selectors =
    row.location === 'header' ? row.selectors.map((text) => `$['${hyphenated(nameIn(text).toLowerCase())}']`) : row.selectors;
  return {
    id: row.id,
    name: row.action,
    effect: FIELD_ACTIONS[row.action].effect,
    material: row.key_name ?? '',
    role: row.data_role ?? undefined,
    strict: row.mode === 'strict',
    mask: row.mask ?? 'full',
    selectors: compileSelectors(selectors),
    whole: row.action === 'encrypt' || row.action === 'sign',
    everything: row.action === 'sign' && row.selectors[0] === '$',
    signatureHeader: row.signature_header,
    signatureMember: row.signature_member,
  };
}

const headerNamesOf = ({ location, selectors, signature_header }: FieldActionRow): string[] =>
  [...(location === 'header' ? selectors.map(nameIn) : []), ...(signature_header === null ? [] : [signature_header])].map((name) =>
    hyphenated(name.toLowerCase()),
  );

/** Selectors of headers name one header each. */
function nameIn(selector: string): string {
  const [step] = stepsOf(selector);
  return step?.to === 'member' ? step.of : '';
}
