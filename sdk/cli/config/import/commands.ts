import type { Command } from 'commander';
import type { Shared } from '../../shared.ts';

export function addImportCommands(_program: Command, _shared: Shared): void {}
