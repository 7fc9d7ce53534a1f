import type { FieldActionName } from '#server/domain/routes/actions/rules.shared.ts';

/** Why a call can't go on. `message` is public and holds no part of a value; `unavailable`: it may work later. */
export class FieldActionFailed extends Error {
  override readonly name = 'FieldActionFailed';
  readonly unavailable: 'tenant_sealed' | 'dependency_unavailable' | undefined;
  constructor(
    message: string,
    { unavailable, cause }: { unavailable?: 'tenant_sealed' | 'dependency_unavailable' | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.unavailable = unavailable;
  }
}

/** The failure of an action at one value, which the message names by its place. */
export const failure = (action: { name: FieldActionName }, pick: { at: string } | string, why: string): FieldActionFailed => {
  const at = typeof pick === 'string' ? pick : pick.at;
  return new FieldActionFailed(`The ${action.name} action of this route failed${at === '' ? '' : ` at ${at.slice(0, 200)}`}: ${why}.`);
};
