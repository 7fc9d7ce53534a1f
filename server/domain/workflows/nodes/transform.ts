import { isRecord } from '../definition.shared.ts';
import { evaluated, InvalidConfig, type NodeKind, succeeded } from './node-call.ts';

/** Builds a value from templates: `fields`, or any JSON as `template`. */
export const transform: NodeKind = (call) => {
  const { fields, template } = call.config;
  if (fields !== undefined && !isRecord(fields)) throw new InvalidConfig('fields must be an object');
  return succeeded(evaluated(call, fields ?? template ?? null));
};
