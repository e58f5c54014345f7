export * from './backwards';
export { type After, type Anchor, type ForwardTree } from './below';
export * from './forwards';
export { type Route, type Sought } from './holdings';
export { atPlace, placeOf, type Origin, type RequestRouting, type RoutingPlace } from './routing';
export * from './routings';
