import { failed, type NodeKind, succeeded } from './node-call.ts';

/** Passes its input through. Code itself isn't run by anything yet, so a definition that has some can't be published. */
export const code: NodeKind = ({ config, input }) =>
  typeof config.code === 'string' && config.code.trim() !== '' ? failed('invalid_config', 'code blocks cannot run yet') : succeeded(input);
