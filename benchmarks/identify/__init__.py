"""Speed of `identify`: capped exact counts against KD-trees and brute force."""
