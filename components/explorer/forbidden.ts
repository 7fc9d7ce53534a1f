import { forbiddenTo } from '#components/roles/forbidden-reason.ts';
import type { ApiOperation } from './document.ts';

/** Why a person with this role cannot make the call; undefined when they can. */
export const forbiddenCall = (role: string, { needs }: Pick<ApiOperation, 'needs'>): string | undefined =>
  needs.flatMap((capability) => forbiddenTo(role, capability) ?? [])[0];
