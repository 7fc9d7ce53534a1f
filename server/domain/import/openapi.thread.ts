import type { Taken } from './credentials.ts';
import type { Proposed } from './from-curl.ts';
import { proposalOf } from './from-openapi.ts';

export const run = ({ text, taken }: { text: string; taken: Taken }): Proposed => proposalOf(text, taken);
