const FIELD = 'input:not([type=hidden], [type=file], [type=checkbox], [type=radio], [tabindex="-1"], :disabled), textarea:not(:disabled)';
const LOADING = '[data-skeleton]';

/**
 * Where a form in a layer begins: on the close button, Enter would throw away what was meant, and its tooltip would cover the title.
 * Its fields have no `autoFocus`: they would take the focus before the layer has seen where it was and is to go back to.
 * While a form is loading, the layer itself is focused, until the first field is there.
 */
export function firstField(layer: HTMLElement | null): HTMLElement | true {
  const field = layer?.querySelector<HTMLElement>(FIELD);
  if (field || !layer?.querySelector(LOADING)) return field ?? true;
  const watch = new MutationObserver(() => {
    if (layer.querySelector(LOADING)) return;
    watch.disconnect();
    // Somebody who has gone on by keyboard meanwhile stays there.
    if (layer.ownerDocument.activeElement === layer) layer.querySelector<HTMLElement>(FIELD)?.focus();
  });
  watch.observe(layer, { childList: true, subtree: true });
  return layer;
}
