'use client';

import { createContext, type RefObject, useContext } from 'react';

/** The dialog or panel around; it holds the menus and lists that its controls open. */
export const LayerHost = createContext<RefObject<HTMLElement | null> | undefined>(undefined);

/**
 * Where a menu or a list of options stands in the document: inside the dialog it belongs to, else inside the page's main landmark. At the end of
 * the body it would lie outside of every landmark, and a reader who moves by them would not meet it.
 */
export const useLayerHost = (): RefObject<HTMLElement | null> => useContext(LayerHost) ?? main;

const main: RefObject<HTMLElement | null> = {
  get current() {
    return document.querySelector<HTMLElement>('main') ?? document.body;
  },
};
