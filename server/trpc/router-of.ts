import type { AnyTRPCProcedure } from '@trpc/server';
import type { PersonNeeds } from '#server/kernel/needs.ts';
import { type AnyOperation, isOfPerson, type Operation } from '#server/kernel/operation.ts';
import { mutation, query, router } from './from-operation.ts';

/**
 * The typed router of a family, from the exports of its operations.ts: an export's name is the procedure's name. Reads over GET become queries, all
 * others mutations: a browser sends a query by a plain GET, which a foreign page can cause and whose address is logged, so a read that takes a body
 * stays a POST. Downloads, operations without a credential or of client tokens, and those of a person have no procedure.
 */
export function routerOf<M extends object>(operations: M) {
  const rows = Object.entries(operations as Record<string, AnyOperation>).filter(([, op]) => hasProcedure(op));
  return router(Object.fromEntries(rows.map(([name, op]) => [name, isQuery(op) ? query(op) : mutation(op)])) as Procedures<M>);
}

const hasProcedure = (op: AnyOperation) => op.needs !== 'anonymous' && op.needs !== 'client_token' && !isOfPerson(op) && !op.stream;
const isQuery = ({ kind, http }: AnyOperation) => kind === 'read' && http.startsWith('GET ');

type Procedures<M> = {
  [Name in keyof M as M[Name] extends { needs: 'anonymous' | 'client_token' | PersonNeeds } | { stream: (...input: never) => unknown }
    ? never
    : Name]: ProcedureOf<M[Name]>;
};

type ProcedureOf<Op> =
  Op extends Operation<infer I, infer O, infer K, infer _, infer Verb>
    ? ['read', 'GET'] extends [K, Verb]
      ? ReturnType<typeof query<I, O>>
      : ReturnType<typeof mutation<I, O>>
    : AnyTRPCProcedure;
