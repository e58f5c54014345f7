export { diffItems, type ItemDifference } from './diff-items';
export { type ShownItem } from './shown-item';
export { shownItems } from './shown-items';
