import type { FieldAction, FieldSide } from '../../snapshot/field-actions.ts';
import type { MediaType } from './run.ts';

/** A media type without its parameters. */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

/** Actions for the bodies of one media type. */
export type BodyActions = { readonly type: MediaType; readonly actions: readonly FieldAction[] };

/**
 * The actions that apply to a body; `plain` says that it is neither compressed nor of two types at once. Undefined when none does: then the guard of the
 * side decides whether it may pass.
 */
export function bodyActions({ body }: FieldSide, contentType: string, plain: boolean): BodyActions | undefined {
  if (!plain) return undefined;
  const type = mediaType(contentType);
  const actions = body.get(type);
  return actions && { type: type as MediaType, actions };
}

/** Why a body that actions must see can't pass: what a person reads who sent it. */
export const uncovered = (guard: FieldAction, contentType: string, plain: boolean, what: string): string =>
  `The ${guard.name} action of this route can't be applied: ${what} ${plain ? `has the media type ${shortened(mediaType(contentType))}` : 'is compressed, or has several media types'}.`;

const shortened = (type: string): string => (type === '' ? 'none' : type.slice(0, 80));
