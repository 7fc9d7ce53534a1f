const FIELD = 'input:not([type=hidden], [type=file], [type=checkbox], [type=radio], [tabindex="-1"], :disabled), textarea:not(:disabled)';

/**
 * Where a form in a layer begins: on the close button, Enter would throw away what was meant, and its tooltip would cover the title.
 * Its fields have no `autoFocus`: they would take the focus before the layer has seen where it was and is to go back to.
 */
export const firstField = (layer: HTMLElement | null): HTMLElement | true => layer?.querySelector<HTMLElement>(FIELD) ?? true;
