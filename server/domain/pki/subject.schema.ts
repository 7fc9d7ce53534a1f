import { z } from 'zod';

// Distinguished names as callers write them (interface rule 43 §4.1): short or long names of the attributes, stored as long ones.

export const ATTRIBUTES = ['common_name', 'organization', 'organizational_unit', 'country', 'province', 'locality'] as const;
export type Attribute = (typeof ATTRIBUTES)[number];
/** What is stored, and what certificates are made of. */
export type SubjectFields = Partial<Record<Attribute, string>>;

const SPELLINGS: Readonly<Record<Attribute, readonly [string, string, ...string[]]>> = {
  common_name: ['common_name', 'CN'],
  organization: ['organization', 'O'],
  organizational_unit: ['organizational_unit', 'OU'],
  country: ['country', 'C'],
  province: ['province', 'ST', 'state'],
  locality: ['locality', 'L'],
};

/** Upper bounds of RFC 5280, appendix A.1. */
const attribute = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}\ufffe\uffff]*$/u, 'must not contain control characters');
const country = () => z.string().regex(/^[A-Za-z]{2}$/, 'must be two letters');

const members = {
  common_name: attribute(64),
  CN: attribute(64),
  organization: attribute(64),
  O: attribute(64),
  organizational_unit: attribute(64),
  OU: attribute(64),
  country: country(),
  C: country(),
  province: attribute(128),
  ST: attribute(128),
  state: attribute(128),
  locality: attribute(128),
  L: attribute(128),
};
type Member = keyof typeof members;

/** Two spellings of one attribute would be two answers to one question. */
function assertOneSpelling(given: Partial<Record<Member, unknown>>, ctx: z.RefinementCtx): void {
  for (const spellings of Object.values(SPELLINGS)) {
    const there = spellings.filter((spelling) => given[spelling as Member] !== undefined);
    if (there.length > 1) ctx.addIssue({ code: 'custom', path: [there[1] as string], message: `is given as ${there[0]} already` });
  }
}

/** Long names alone; undefined where nothing is said, null where something is to be dropped. */
export function longNames<V>(given: Partial<Record<Member, V>>): Partial<Record<Attribute, V>> {
  return Object.fromEntries(
    ATTRIBUTES.flatMap((name) => {
      const value = SPELLINGS[name].map((spelling) => given[spelling as Member]).find((one) => one !== undefined);
      return value === undefined ? [] : [[name, name === 'country' && typeof value === 'string' ? value.toUpperCase() : value]];
    }),
  ) as Partial<Record<Attribute, V>>;
}

/** The name of a root, which has a common name. */
export const rootSubject = () =>
  z
    .strictObject(members)
    .partial()
    .superRefine((given, ctx) => {
      assertOneSpelling(given, ctx);
      if (given.CN === undefined && given.common_name === undefined)
        ctx.addIssue({ code: 'custom', path: ['common_name'], message: 'is required' });
    });

const nullable = Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, schema.nullable()])) as unknown as {
  [M in Member]: z.ZodNullable<(typeof members)[M]>;
};
/** The name of a leaf: what it leaves out comes from the root, null drops it. */
export const leafSubject = () => z.strictObject(nullable).partial().superRefine(assertOneSpelling);
