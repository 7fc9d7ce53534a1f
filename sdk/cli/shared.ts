import type { OperationTable } from '../operation.ts';
import type { Terminal } from './terminal.ts';

/** What all commands share. `end` says how the command ended when that is no error. */
export type Shared = { terminal: Terminal; table: OperationTable; end: (code: number) => void };
