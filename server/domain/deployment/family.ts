import { family } from '#server/kernel/family.ts';
import * as operations from './operations.ts';

export const deployment = family({ name: 'deployment', namespace: 'deployment', router: 'deployment', operations });
