// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {JobEscrow} from "./JobEscrow.sol";
import {Sale, SaleSplitter} from "./SaleSplitter.sol";

/// Owns what is listed on the chain, and where the splitter of a sale stands, before and after it is made.
/// Invariants: one splitter for a key commitment and a sale, at an address that can be told beforehand; only the seller lists and withdraws, and
/// what somebody else lists under the same id does not count for it; listing again changes nothing.
contract SplitterFactory is ERC2771Context {
    address public immutable splitter;
    /// Zero: not listed, or withdrawn.
    mapping(address seller => mapping(bytes32 listingId => address splitter)) public listed;

    event Listed(bytes32 indexed listingId, address indexed seller, address splitter, bytes32 contentHash);
    event Withdrawn(bytes32 indexed listingId, address indexed seller);

    error NotYours(address caller);
    error NoReceiver();
    error NotListed();

    constructor(JobEscrow escrow, IERC20 token, address forwarder) ERC2771Context(forwarder) {
        splitter = address(new SaleSplitter(escrow, token, forwarder));
    }

    function splitterOf(bytes32 keyCommit, Sale calldata sale) public view returns (address) {
        return Clones.predictDeterministicAddressWithImmutableArgs(splitter, abi.encode(sale), _salt(keyCommit, sale));
    }

    function list(bytes32 keyCommit, Sale calldata sale, bytes32 listingId, bytes32 contentHash) external {
        if (_msgSender() != sale.seller) revert NotYours(_msgSender());
        if (sale.styx == address(0) || sale.gas == address(0)) revert NoReceiver();
        if (listed[sale.seller][listingId] != address(0)) return;
        address place = splitterOf(keyCommit, sale);
        if (place.code.length == 0) {
            Clones.cloneDeterministicWithImmutableArgs(splitter, abi.encode(sale), _salt(keyCommit, sale));
        }
        listed[sale.seller][listingId] = place;
        emit Listed(listingId, sale.seller, place, contentHash);
    }

    function withdraw(bytes32 listingId) external {
        address seller = _msgSender();
        if (listed[seller][listingId] == address(0)) revert NotListed();
        delete listed[seller][listingId];
        emit Withdrawn(listingId, seller);
    }

    function _salt(bytes32 keyCommit, Sale calldata sale) private pure returns (bytes32) {
        return keccak256(abi.encode(keyCommit, sale));
    }
}
